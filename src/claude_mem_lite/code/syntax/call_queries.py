"""Tree-sitter queries for the calls, imports, bases and variables of each language. Captures:

call                           the callee: a name, or a member of an expression
variable, field                the target of an assignment, or a parameter; `field` belongs to the class around
type, value                    the declared type or the assigned value of a variable
declared                       a variable of Go: its type stands after a list of names
returns, base                  a return type, a base class
module, imported, alias, star  the parts of an import; without `imported`, the import is of the module itself
specifier, taken               a name in a list of JavaScript; its module stands elsewhere in the statement
export, exported               another name of a definition for importing files

A pattern has no node after a list: each item would wait for it, and time would grow with the square of the list.
The tags queries of the grammars are not used: they have no receivers, and none of C, C++ and TypeScript has calls."""

_PYTHON = """
(call function: (_) @call)
(decorator [(identifier) (attribute)] @call)
(import_statement name: (dotted_name) @module)
(import_statement name: (aliased_import name: (_) @module alias: (_) @alias))
(import_from_statement module_name: (_) @module name: (dotted_name) @imported)
(import_from_statement module_name: (_) @module name: (aliased_import name: (_) @imported alias: (_) @alias))
(import_from_statement module_name: (_) @module (wildcard_import) @star)
(class_definition superclasses: (argument_list [(identifier) @base (attribute) @base (subscript value: (_) @base)]))
(function_definition return_type: (_) @returns)
(parameters [(identifier) @variable (default_parameter name: (_) @variable)])
(lambda_parameters (identifier) @variable)
(typed_parameter . (identifier) @variable type: (_) @type)
(typed_default_parameter name: (_) @variable type: (_) @type)
(assignment left: (_) @variable type: (_) @type)
(assignment left: (_) @variable right: (_) @value !type)
(assignment left: (pattern_list (identifier) @variable))
(named_expression name: (_) @variable value: (_) @value)
(as_pattern . (_) @value alias: (as_pattern_target (_) @variable))
(for_statement left: [(identifier) @variable (pattern_list (identifier) @variable)])
(for_in_clause left: [(identifier) @variable (pattern_list (identifier) @variable)])
"""

_JAVASCRIPT = """
(call_expression function: (_) @call)
(new_expression constructor: (_) @call)
(decorator (identifier) @call)
(import_statement (import_clause (identifier) @default) source: (string (string_fragment) @module))
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string (string_fragment) @module))
[(import_specifier) (export_specifier)] @specifier
(export_statement "*" @star source: (string (string_fragment) @module))
(export_statement "default" @export declaration: (_ name: (_) @exported))
(export_statement "default" @export value: (identifier) @exported)
(assignment_expression left: (member_expression) @exports right: (identifier) @exported
  (#eq? @exports "module.exports"))
(assignment_expression left: (member_expression) @exports right: (object (pair key: (_) @export value: (_) @exported))
  (#eq? @exports "module.exports"))
(assignment_expression left: (member_expression object: (_) @exports property: (_) @export)
  right: (identifier) @exported (#any-of? @exports "module.exports" "exports"))
(variable_declarator name: (identifier) @alias value: (call_expression function: (identifier) @require
  arguments: (arguments (string (string_fragment) @module))) (#eq? @require "require"))
(variable_declarator name: (object_pattern [(shorthand_property_identifier_pattern) (pair_pattern)] @taken))
(assignment_expression left: (_) @variable right: (_) @value)
(arrow_function parameter: (identifier) @variable)
(for_in_statement left: (identifier) @variable)
"""
_JAVASCRIPT_ONLY = """
(variable_declarator name: (identifier) @variable value: (_) @value)
(class_heritage (_) @base)
(formal_parameters [(identifier) @variable (assignment_pattern left: (identifier) @variable)])
(field_definition property: (_) @variable value: (_) @value)
"""
_TYPESCRIPT = """
(extends_clause value: (_) @base)
(implements_clause (_) @base)
(extends_type_clause type: (_) @base)
(formal_parameters (_ pattern: (identifier) @variable !type))
(formal_parameters (_ pattern: (identifier) @variable type: (_) @type))
(formal_parameters (required_parameter (accessibility_modifier) pattern: (identifier) @field type: (_) @type))
(variable_declarator name: (identifier) @variable type: (_) @type)
(variable_declarator name: (identifier) @variable value: (_) @value !type)
(public_field_definition name: (_) @variable type: (_) @type)
(public_field_definition name: (_) @variable value: (_) @value !type)
(_ parameters: (_) return_type: (_) @returns)
"""
_JSX = '([(jsx_self_closing_element name: (_) @call) (jsx_opening_element name: (_) @call)] (#match? @call "^[A-Z]"))'

_GO = """
(call_expression function: (_) @call)
(composite_literal type: (_) @call)
(import_spec !name path: (_) @module)
(import_spec name: (package_identifier) @alias path: (_) @module)
(import_spec name: (dot) @star path: (_) @module)
([(field_declaration name: (_) @declared) (parameter_declaration name: (_) @declared) (var_spec name: (_) @declared)])
(field_declaration !name type: (_) @base)
(var_spec . name: (_) @variable value: (expression_list . (_) @value) !type)
(short_var_declaration left: (expression_list . (_) @variable) right: (expression_list . (_) @value))
(range_clause left: (expression_list (identifier) @variable))
(_ name: (_) parameters: (_) result: (_) @returns)
"""

_RUST = """
(call_expression function: (_) @call)
(struct_expression name: (_) @call)
(token_tree (identifier) @call . (token_tree . "("))
(use_declaration argument: (_) @use)
(mod_item name: (_) @module !body)
(impl_item trait: (_) @base)
(field_declaration name: (_) @variable type: (_) @type)
(parameter pattern: (identifier) @variable type: (_) @type)
(let_declaration pattern: (identifier) @variable type: (_) @type)
(let_declaration pattern: (identifier) @variable value: (_) @value !type)
(for_expression pattern: (identifier) @variable)
(closure_parameters (identifier) @variable)
(function_item return_type: (_) @returns)
"""

_JAVA = """
(method_invocation) @call
(object_creation_expression type: (_) @call)
(explicit_constructor_invocation constructor: (_) @call)
(import_declaration (_) @import)
(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @variable))
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (_) @variable value: (_)? @value))
(formal_parameter type: (_) @type name: (_) @variable)
(enhanced_for_statement type: (_) @type name: (_) @variable)
(resource type: (_) @type name: (_) @variable)
(lambda_expression parameters: (identifier) @variable)
(method_declaration type: (_) @returns)
"""

_C = """
(call_expression function: (_) @call)
(declaration type: (_) @type declarator: [(identifier) @variable
  (pointer_declarator declarator: (identifier) @variable)])
(declaration type: (_) @type declarator: (init_declarator declarator: [(identifier) @variable
  (pointer_declarator declarator: (identifier) @variable)] value: (_) @value))
(parameter_declaration type: (_) @type declarator: [(identifier) @variable
  (pointer_declarator declarator: (identifier) @variable)])
(field_declaration type: (_) @type declarator: [(field_identifier) @variable
  (pointer_declarator declarator: (field_identifier) @variable)])
(function_definition type: (_) @returns)
"""
_CPP = """
(new_expression type: (_) @call)
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(parameter_declaration type: (_) @type declarator: (reference_declarator (identifier) @variable))
"""

_RUBY = """
(call) @call
(super) @call
([(program (identifier) @call) (body_statement (identifier) @call) (block_body (identifier) @call)
  (argument_list (identifier) @call) (then (identifier) @call) (call receiver: (identifier) @call)
  (assignment right: (identifier) @call)])
(superclass (_) @base)
((call method: (identifier) @include arguments: (argument_list (constant) @base))
  (#any-of? @include "include" "extend" "prepend"))
(method_parameters [(identifier) @variable (_ name: (identifier) @variable)])
(block_parameters (identifier) @variable)
(assignment left: (_) @variable right: (_) @value)
"""

QUERIES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT + _JAVASCRIPT_ONLY + _JSX,
    "typescript": _JAVASCRIPT + _TYPESCRIPT,
    "tsx": _JAVASCRIPT + _TYPESCRIPT + _JSX,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": _C,
    "cpp": _C + _CPP,
    "ruby": _RUBY,
}
