"""Tree-sitter queries for the definitions of each language. Captures:

class, function, method  a definition of the kind; a function in a class becomes a method
namespace                a definition of the kind class, but functions inside do not become methods
type                     no definition; qualifies the names inside and turns functions into methods: Rust's impl
scope                    no definition; qualifies the names inside
name, owner              the own name, and the qualifier before the name: Go's receiver
declarator, target       a node with the name inside: C's declarators, the left side of JavaScript's assignments
value                    a function or class named by the target of its assignment
start                    the beginning of the signature, if directly before the definition
body, head               the end of the signature: before the first body, or after the last head
lead                     a part of the next definition: a decorator
comment                  text without a meaning to the machine
block                    a range with an end marked only by indentation
"""

_PYTHON = """
(function_definition name: (_) @name body: (_)? @body) @function
(class_definition name: (_) @name body: (_)? @body) @class
(decorator) @lead
(comment) @comment
(block) @block
"""

_FUNCTION_VALUE = """[
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
] @value"""
_KEY = "[(property_identifier) @name (private_property_identifier) @name (string (string_fragment) @name)]"
_METHOD_NAME = f"[{_KEY[1:-1]} (computed_property_name) @name (number) @name]"

_ECMASCRIPT = f"""
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(function_expression name: (_) @name body: (_) @body) @function
(generator_function name: (_) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(class name: (_) @name body: (_) @body) @class
(class !name) @type
(method_definition name: {_METHOD_NAME} body: (_) @body) @function

(lexical_declaration kind: _ @start (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE}) @function)
(variable_declaration "var" @start (variable_declarator name: (identifier) @name value: {_FUNCTION_VALUE}) @function)
(lexical_declaration kind: _ @start
  (variable_declarator name: (identifier) @name value: (class body: (_) @body) @value) @class)
(variable_declarator name: (identifier) @name value: (object)) @type
(assignment_expression left: (member_expression) @target right: {_FUNCTION_VALUE}) @function
(assignment_expression left: (identifier) @name right: {_FUNCTION_VALUE}) @function
(assignment_expression left: (member_expression) @target right: (class body: (_) @body) @value) @class
(assignment_expression left: (member_expression) @target right: (object)) @type
(pair key: {_KEY} value: {_FUNCTION_VALUE}) @function
(pair key: {_KEY} value: (object)) @type

(export_statement "default" @name value: (function_expression !name body: (_) @body) @function)
(export_statement "default" @name value: (arrow_function body: (_) @body) @function)
(export_statement "default" @name value: (class !name body: (_) @body) @class)
(export_statement "export" @lead)
(export_statement "default" @lead)
(decorator) @lead
(comment) @comment
"""

_JAVASCRIPT = f"""
{_ECMASCRIPT}
(field_definition property: {_METHOD_NAME} value: {_FUNCTION_VALUE}) @function
"""

_TYPESCRIPT = f"""
{_ECMASCRIPT}
(public_field_definition name: {_METHOD_NAME} value: {_FUNCTION_VALUE}) @function
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(abstract_method_signature name: {_METHOD_NAME}) @function
(class_body (method_signature name: {_METHOD_NAME}) @function)
(function_signature name: (_) @name) @function
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(type_alias_declaration name: (_) @name) @class
(internal_module name: (_) @name body: (_)? @body) @namespace
(module name: [(string (string_fragment) @name) (identifier) @name (nested_identifier) @name]
  body: (_)? @body) @namespace
(ambient_declaration "declare" @lead)
"""

_GO = """
(function_declaration name: (_) @name body: (_)? @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (_) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (_) @owner)])
  ]))
  name: (_) @name body: (_)? @body) @method
(type_declaration "type" @start [(type_spec name: (_) @name) (type_alias name: (_) @name)] @class)
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @class
(type_spec name: (_) @name type: (interface_type "{" @body)) @class
(comment) @comment
"""

_RUST = """
(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (field_declaration_list)? @body) @class
(union_item name: (_) @name body: (_) @body) @class
(enum_item name: (_) @name body: (_) @body) @class
(trait_item name: (_) @name body: (_) @body) @class
(macro_definition name: (_) @name ["{" "(" "["] @body) @function
(mod_item name: (_) @name body: (_)) @scope
(impl_item type: [
  (type_identifier) @name
  (primitive_type) @name
  (scoped_type_identifier name: (_) @name)
  (generic_type type: [(type_identifier) @name (scoped_type_identifier name: (_) @name)])
]) @type
(impl_item) @type
(attribute_item) @lead
[(line_comment) (block_comment)] @comment
"""

_JAVA = """
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @class
(record_declaration name: (_) @name body: (_) @body) @class
(annotation_type_declaration name: (_) @name body: (_) @body) @class
(enum_constant name: (_) @name body: (_)) @type
(object_creation_expression (class_body) @type)
(method_declaration name: (_) @name body: (_)? @body) @function
(constructor_declaration name: (_) @name body: (_) @body) @function
(compact_constructor_declaration name: (_) @name body: (_) @body) @function
[(marker_annotation) (annotation)] @lead
[(line_comment) (block_comment)] @comment
"""

_C = """
(function_definition declarator: (_) @declarator body: (_) @body) @function
(preproc_function_def name: (_) @name value: (_)? @body) @function
(struct_specifier name: (type_identifier) @name body: (_) @body) @class
(union_specifier name: (type_identifier) @name body: (_) @body) @class
(enum_specifier name: (type_identifier) @name body: (_) @body) @class
(type_definition type: [
  (struct_specifier !name body: (_) @body)
  (union_specifier !name body: (_) @body)
  (enum_specifier !name body: (_) @body)
] declarator: (type_identifier) @name) @class
(comment) @comment
"""

_CPP = f"""
{_C}
(function_definition (field_initializer_list) @body) @function
(function_definition declarator: (_) @declarator
  [(default_method_clause) (delete_method_clause) (try_statement)] @body) @function
(class_specifier name: [(type_identifier) @name (template_type name: (_) @name) (qualified_identifier) @name]
  body: (_) @body) @class
(struct_specifier name: [(template_type name: (_) @name) (qualified_identifier) @name] body: (_) @body) @class
(namespace_definition name: (_) @name) @scope
(template_declaration "template" @lead parameters: (_) @lead)
(template_declaration (requires_clause) @lead)
(attribute_declaration) @lead
"""

_RUBY = """
(method name: (_) @name @head) @function
(method parameters: (_) @head) @function
(singleton_method object: (identifier) @owner) @method
(singleton_method name: (_) @name @head) @method
(singleton_method parameters: (_) @head) @method
(class name: (_) @name @head) @class
(class superclass: (_) @head) @class
(module name: (_) @name @head) @class
(singleton_class) @type
(assignment left: (constant) @name right: (call block: (_))) @type
(comment) @comment
"""

PATTERNS = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": _C,
    "cpp": _CPP,
    "ruby": _RUBY,
}
