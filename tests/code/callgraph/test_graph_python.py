"""Who calls whom in Python, in projects of a few lines."""

from tests.code.callgraph_project import Project


def test_a_plain_call_reaches_the_function_of_its_own_module(project: Project) -> None:
    project.write("a.py", "def f(): pass\n\ndef g():\n    f()\n\nf()\n")
    project.write("b.py", "def f(): pass\n")
    assert project.callers("a.py::f") == {"a.py::g", "a.py::"}
    assert project.callers("b.py::f") == set()
    assert project.callees("g") == {"a.py::f"}


def test_the_lines_of_all_calls_are_told(project: Project) -> None:
    project.write("a.py", "def f(): pass\n\ndef g():\n    f()\n    return [\n        f() for _ in range(2)\n    ]\n")
    assert [edge.lines for edge in project.caller_edges("f")] == [(4, 6)]


def test_an_import_is_followed_under_any_name(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/a.py", "def f(): pass\n")
    project.write("pkg/b.py", "from .a import f as renamed\n\ndef one():\n    renamed()\n")
    project.write("main.py", "import pkg.a as short\nimport pkg.a\n\ndef two():\n    short.f()\n    pkg.a.f()\n")
    project.write("late.py", "def three():\n    from pkg import a\n    a.f()\n")
    assert project.callers("f") == {"pkg/b.py::one", "main.py::two", "late.py::three"}


def test_a_re_export_is_followed_to_the_definition(project: Project) -> None:
    project.write("src/pkg/__init__.py", "from .inner import *\nfrom .inner.deep import g as h\n")
    project.write("src/pkg/inner/__init__.py", "from .deep import f\n")
    project.write("src/pkg/inner/deep.py", "def f(): pass\n\ndef g(): pass\n")
    project.write("tests/test_it.py", "from pkg import f, h\n\ndef test():\n    f()\n    h()\n")
    assert project.callers("f") == project.callers("g") == {"tests/test_it.py::test"}


def test_a_module_of_a_package_is_not_taken_for_one_of_the_standard_library(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/json.py", "def loads(text): pass\n")
    project.write("main.py", "import json\nfrom json import loads\n\ndef f():\n    json.loads('')\n    loads('')\n")
    assert project.callers("loads") == set()
    assert project.foreign("f") == {"loads": 2}


def test_a_method_is_found_on_the_own_class_and_those_above_it(project: Project) -> None:
    project.write("base.py", "class Base:\n    def f(self): pass\n    def g(self): pass\n")
    project.write(
        "a.py",
        """
        from base import Base

        class A(Base):
            def g(self):
                super().g()
                self.f()
                self.g()

            @classmethod
            def make(cls):
                return cls()
        """,
    )
    assert project.callees("A.g") == {"base.py::Base.g", "base.py::Base.f", "a.py::A.g"}
    assert project.callers("a.py::A") == {"a.py::A.make"}


def test_a_method_that_only_classes_below_define_is_possible(project: Project) -> None:
    project.write(
        "a.py", "class A:\n    def run_it(self):\n        self.step()\n\nclass B(A):\n    def step(self): pass\n"
    )
    assert project.callers("step") == {"a.py::A.run_it?"}


def test_types_that_are_declared_tell_which_method_is_meant(project: Project) -> None:
    project.write("store.py", "class Store:\n    def get(self, key): pass\n    def put(self): pass\n")
    project.write("other.py", "class Other:\n    def get(self, key): pass\n")
    project.write(
        "use.py",
        """
        from __future__ import annotations
        from typing import Optional
        from store import Store

        class Use:
            shared: Store

            def __init__(self, store: Optional["Store"], stores: list[Store]) -> None:
                self.store = store or Store()
                self.stores = stores

            @property
            def main(self) -> Store:
                return self.store

            def attribute(self): self.store.get(1)
            def declared(self): self.shared.get(1)
            def of_property(self): self.main.get(1)
            def of_loop(self):
                for one in self.stores:
                    one.get(1)

        def parameter(store: Store | None): store.get(1)
        def made(): Store().get(1)
        def variable():
            store = Store()
            store.get(1)
        def opened() -> Store: return Store()
        def returned(): opened().get(1)
        def unrelated(things: dict): things.get(1)
        """,
    )
    callers = {"attribute", "declared", "of_property", "of_loop?"}  # items of containers have no type
    expected = {f"use.py::Use.{name}" for name in callers}
    assert project.callers("Store.get") == expected | {
        f"use.py::{n}" for n in ("parameter", "made", "variable", "returned")
    }
    assert project.callers("Other.get") == {"use.py::Use.of_loop?"}


def test_a_local_name_for_a_function_is_that_function(project: Project) -> None:
    project.write(
        "a.py",
        """
        class A:
            def method(self): pass

            def loop(self):
                call = self.method
                for _ in range(9):
                    call()

        def f(): pass

        def g():
            run = f
            run()
        """,
    )
    assert project.callers("A.method") == {"a.py::A.loop"}
    assert project.callers("f") == {"a.py::g"}


def test_a_function_inside_another_is_called_by_its_own_name(project: Project) -> None:
    project.write(
        "a.py",
        """
        def helper(): pass

        def outer():
            def helper(n):
                helper(n - 1)
                plain()
            helper(3)

        def plain():
            helper()
        """,
    )
    assert project.callers("a.py::outer.helper") == {"a.py::outer", "a.py::outer.helper"}
    assert project.callees("outer") == {"a.py::outer.helper", "a.py::plain"}
    assert project.callees("plain") == {"a.py::helper"}


def test_a_decorator_is_called_by_what_surrounds_the_function(project: Project) -> None:
    project.write(
        "a.py",
        """
        def plain(f): return f
        def made(n): return plain
        def default(): return 1

        @made(1)
        @plain
        def f(x=default()): pass

        class A:
            @plain
            def m(self): pass
        """,
    )
    assert project.callers("plain") == {"a.py::", "a.py::A"}
    assert project.callers("made") == project.callers("default") == {"a.py::"}
    assert project.callees("f") == set()


def test_an_object_of_unknown_type_may_be_of_any_class_when_they_are_few(project: Project) -> None:
    project.write("a.py", "class A:\n    def renew(self): pass\n    def append(self): pass\n")
    project.write("b.py", "class B:\n    def renew(self): pass\n")
    project.write("use.py", "def f(thing):\n    thing.renew()\n    thing.append(1)\n")
    assert project.callees("f") == {"a.py::A.renew?", "b.py::B.renew?"}
    assert project.callers("A.append") == {"use.py::f?"}
    for number in range(5):
        project.write(f"more{number}.py", f"class More{number}:\n    def renew(self): pass\n")
    assert project.callees("f") == set()


def test_modules_that_import_each_other_and_names_that_stand_for_each_other_are_no_trap(project: Project) -> None:
    project.write(
        "a.py", "from b import x as y, g\nfrom a import f\n\nz = z\ny = x = y\n\ndef f():\n    g()\n    y()\n    z()\n"
    )
    project.write("b.py", "from a import y as x\nfrom b import *\n\ndef g(): pass\n")
    assert project.callees("f") == {"b.py::g"}


def test_broken_syntax_hides_only_itself(project: Project) -> None:
    project.write("a.py", "def f(): pass\n\ndef g(:\n    f(\n\ndef h():\n    f()\n")
    assert "a.py::h" in project.callers("f")


def test_names_that_a_parameter_hides_are_not_the_function(project: Project) -> None:
    project.write("a.py", "def f(): pass\n\ndef g(f):\n    f()\n\ndef h():\n    return lambda f: f()\n")
    assert project.callers("f") == set()


def test_a_checkout_that_is_the_package_itself_knows_its_own_name(project: Project) -> None:
    project.write("__init__.py", "def f(): pass\n")
    project.write("a.py", "from project import f\nfrom . import f as g\n\ndef one():\n    f()\n\ndef two():\n    g()\n")
    assert project.callers("f") == {"a.py::one", "a.py::two"}


def test_deeply_nested_code_is_read_as_far_as_that_goes(project: Project) -> None:
    project.write("a.py", "def f(x): return x\n\ndef g(x):\n    return " + "f(" * 300 + "x" + ")" * 300 + "\n")
    project.write("b.py", "def h(x):\n    x" + ".m()" * 2000 + "\n")
    assert project.callers("f") == {"a.py::g"}


def test_calls_of_a_name_that_builtin_things_have_are_counted_when_they_are_many(project: Project) -> None:
    project.write("a.py", "class Leaf:\n    def get(self): pass\n")
    project.write("use.py", "def f(t):\n    t.get()\n")
    assert (project.callers("Leaf.get"), project.unclear("Leaf.get")) == ({"use.py::f?"}, 0)
    project.write("more.py", "".join(f"def f{number}(t):\n    t.get()\n" for number in range(5)))
    assert (project.callers("Leaf.get"), project.unclear("Leaf.get")) == (set(), 6)


def test_names_that_stand_for_each_other_in_a_long_row_stop_no_answer(project: Project) -> None:
    row = "".join(f"t{number} = t{number + 1}\n" for number in range(2000)) + "t2000 = Leaf\n"
    project.write("a.py", "class Leaf:\n    def get(self): pass\n    def renew(self): pass\n")
    project.write("use.py", f"from a import Leaf\n{row}def use(y: Leaf):\n    t0().get()\n    y.renew()\n")
    assert project.callers("get") == {"use.py::use?"}
    assert project.callers("renew") == {"use.py::use"}


def test_modules_that_hand_a_name_on_in_a_long_row_stop_no_answer(project: Project) -> None:
    for number in range(300):
        project.write(f"m{number}.py", f"from m{number + 1} import f\nfrom m{number + 1} import *\n")
    project.write("m300.py", "def f(): pass\n\ndef g(): pass\n")
    project.write("use.py", "from m0 import f, g\nfrom m300 import f as near\n\ndef use():\n    g()\n    near()\n")
    assert project.callers("f") == {"use.py::use"}


def test_a_class_at_the_end_of_a_long_row_of_classes_stops_no_answer(project: Project) -> None:
    row = "".join(f"class C{number + 1}(C{number}): pass\n" for number in range(2000))
    project.write("a.py", "class C0:\n    def __init__(self): pass\n    def renew(self): pass\n" + row)
    project.write("use.py", "from a import C5, C2000\n\ndef use(x: C2000):\n    x.renew()\n    C5().renew()\n")
    assert "use.py::use" in project.callers("renew")
    assert "use.py::use" in project.callers("C0.__init__")


def test_making_an_instance_calls_the_constructor(project: Project) -> None:
    project.write(
        "a.py",
        """
        class Session:
            def __init__(self): pass

        class Inherits(Session): pass

        class Deeper(Inherits): pass

        class Own(Session):
            def __init__(self):
                super().__init__()

        def makes(): Session()
        def makes_heir(): Deeper()
        def makes_own(): Own()
        """,
    )
    project.write("b.py", "from a import Session as S\n\ndef elsewhere(): S()\n")
    assert project.callers("Session.__init__") == {
        "a.py::makes",
        "a.py::makes_heir",
        "a.py::Own.__init__",
        "b.py::elsewhere",
    }
    assert project.callers("Own.__init__") == {"a.py::makes_own"}
