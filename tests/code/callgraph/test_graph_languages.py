"""Tests of `code/callgraph/graph.py`, `code/callgraph/modules.py`, `code/syntax/references.py`,
`code/syntax/call_paths.py`, `code/syntax/languages.py` and `code/callgraph/lookup.py`: callers and callees in
languages other than Python, in projects of a few lines."""

import pytest

from tests.code.callgraph_project import Project


def test_javascript_by_imports_exports_and_this(project: Project) -> None:
    project.write(
        "src/util.js",
        """
        export function add(a, b) { return a + b; }
        export const twice = (n) => add(n, n);
        export default class Store {
          constructor() { this.log = new Log(); }
          get(key) { return this.find(key); }
          find(key) { this.log.line(key); }
        }
        class Log { line(text) {} }
        """,
    )
    project.write("src/index.js", 'export { add as plus } from "./util";\nexport * from "./util.js";\n')
    project.write(
        "app.js",
        """
        import Store, { twice } from "./src/util.js";
        import { plus } from "./src";
        import * as util from "./src/util";

        async function main() {
          const store = new Store();
          await store.get(twice(2));
          [1].map((n) => plus(n, 1));
        }
        util.add(1, 2);
        """,
    )
    assert project.callers("add") == {"src/util.js::twice", "app.js::main", "app.js::"}
    assert project.callers("Store") == {"app.js::main"}
    assert project.callers("Store.get") == {"app.js::main"}
    assert project.callees("Store.find") == {"src/util.js::Log.line"}
    assert project.callees("Store.get") == {"src/util.js::Store.find"}


def test_javascript_by_require(project: Project) -> None:
    project.write("lib/a.js", "function f() {}\nfunction g() { f(); }\nmodule.exports = { f, renamed: g };\n")
    project.write("lib/b.js", "class Only {}\nmodule.exports = Only;\n")
    project.write(
        "main.js",
        """
        const { f, renamed: h } = require("./lib/a");
        const a = require("./lib/a");
        const Only = require("./lib/b");
        const api = { start() { this.stop(); }, stop() { f(); } };
        function run() { h(); a.f(); new Only(); api.start(); }
        """,
    )
    assert project.callers("f") == {"lib/a.js::g", "main.js::api.stop", "main.js::run"}
    assert project.callers("g") == project.callers("Only") == {"main.js::run"}
    assert project.callers("api.stop") == {"main.js::api.start"}
    assert project.callers("api.start") == {"main.js::run"}


def test_typescript_by_declared_types(project: Project) -> None:
    project.write(
        "src/store.ts",
        """
        export interface Reader { read(key: string): string; }
        export class Store implements Reader {
          constructor(private readonly log: Log) {}
          read(key: string): string { this.log.line(key); return key; }
          static open(): Store { return new Store(new Log()); }
        }
        export class Log { line(text: string): void {} }
        """,
    )
    project.write(
        "src/app.tsx",
        """
        import { Store, Log } from "@/store";
        export function Page(props: { store: Store }) { return <Button store={Store.open()} />; }
        function Button({ store }: { store: Store }) { return <b>{label(store)}</b>; }
        const label = (store: Store): string => store.read("x");
        export async function all(stores: Store[], later: Promise<Store>) {
          for (const one of stores) one.read("y");
          (await later).read("z");
        }
        """,
    )
    project.write("tsconfig.json", "{}")
    assert project.callers("Log.line") == {"src/store.ts::Store.read"}
    assert project.callers("Store.read") == {"src/app.tsx::label", "src/app.tsx::all"}
    assert project.callers("Store.open") == {"src/app.tsx::Page"}
    assert project.callers("Button") == {"src/app.tsx::Page"}
    assert project.callees("Button") == {"src/app.tsx::label"}


def test_go_by_package_import_and_receiver(project: Project) -> None:
    project.write("go.mod", "module example.com/shop\n\ngo 1.22\n")
    project.write(
        "store/store.go",
        """
        package store

        type Store struct{ log *Log }

        func New() (*Store, error) { return &Store{log: newLog()}, nil }

        func (s *Store) Get(key string) string { s.log.Line(key); return s.find(key) }
        """,
    )
    project.write(
        "store/log.go",
        """
        package store

        type Log struct{}

        func newLog() *Log { return &Log{} }
        func (l *Log) Line(text string) {}
        func (s *Store) find(key string) string { return key }
        """,
    )
    project.write(
        "cmd/main.go",
        """
        package main

        import (
            "fmt"
            st "example.com/shop/store"
        )

        func main() {
            s, err := st.New()
            fmt.Println(s.Get("a"), err)
        }

        func use(stores []*st.Store) {
            for _, one := range stores {
                go func() { one.Get("b") }()
            }
        }
        """,
    )
    assert project.callers("New") == {"cmd/main.go::main"}
    assert project.callers("Store.Get") == {"cmd/main.go::main", "cmd/main.go::use?"}
    assert project.callees("Store.Get") == {"store/log.go::Log.Line", "store/log.go::Store.find"}
    assert project.callers("newLog") == project.callers("store/store.go::Store") == {"store/store.go::New"}


def test_rust_by_paths_uses_and_impls(project: Project) -> None:
    project.write(
        "src/main.rs",
        """
        mod store;
        use store::{open as start, Store};

        fn main() {
            let s = start();
            s.get(1);
            Store::new();
            println!("{}", helper(store::open()));
        }

        fn helper(s: Store) -> u8 { s.get(2) }
        """,
    )
    project.write(
        "src/store.rs",
        """
        pub struct Store { log: Log }
        pub struct Log;

        pub fn open() -> Store { Store::new() }

        impl Store {
            pub fn new() -> Self { Store { log: Log } }
            pub fn get(&self, key: u8) -> u8 { self.log.line(); self.find(key) }
            fn find(&self, key: u8) -> u8 { key }
        }

        impl Log { fn line(&self) {} }
        """,
    )
    assert project.callers("open") == {"src/main.rs::main"}
    assert project.callers("Store.new") == {"src/main.rs::main", "src/store.rs::open"}
    assert project.callers("Store.get") == {"src/main.rs::main", "src/main.rs::helper"}
    assert project.callees("Store.get") == {"src/store.rs::Log.line", "src/store.rs::Store.find"}
    assert project.callers("src/main.rs::helper") == {"src/main.rs::main"}


def test_java_by_fields_imports_and_packages(project: Project) -> None:
    project.write(
        "src/shop/store/Store.java",
        """
        package shop.store;

        public class Store extends Base {
            private final Log log = new Log();
            public Store(int size) { super(size); }
            public String get(String key) { log.line(key); return find(key); }
            private String find(String key) { return check(key); }
            public static Store open() { return new Store(1); }
        }
        """,
    )
    project.write("src/shop/store/Log.java", "package shop.store;\n\nclass Log {\n    void line(String text) {}\n}\n")
    project.write(
        "src/shop/store/Base.java",
        "package shop.store;\n\nclass Base {\n    Base(int size) {}\n    String check(String key) { return key; }\n}\n",
    )
    project.write(
        "src/shop/Main.java",
        """
        package shop;

        import java.util.List;
        import shop.store.Store;
        import static shop.store.Store.open;

        class Main {
            void run(List<Store> stores) {
                Store.open().get("a");
                for (Store one : stores) { one.get("b"); }
                stores.forEach(s -> s.toString());
                open();
            }
        }
        """,
    )
    assert project.callers("Store.get") == {"src/shop/Main.java::Main.run"}
    assert project.callers("Store.open") == {"src/shop/Main.java::Main.run"}
    assert project.callers("Log.line") == {"src/shop/store/Store.java::Store.get"}
    assert project.callees("Store.find") == {"src/shop/store/Base.java::Base.check"}
    assert project.callers("Base.Base") == {"src/shop/store/Store.java::Store.Store"}
    assert project.callers("src/shop/store/Store.java::Store.Store") == {"src/shop/store/Store.java::Store.open"}


def test_c_by_name_own_file_first(project: Project) -> None:
    project.write("ring.h", "typedef struct ring { int head; } ring_t;\nring_t *ring_new(void);\n")
    project.write(
        "ring.c",
        """
        #include "ring.h"

        static int next(int at) { return at + 1; }

        ring_t *ring_new(void) { next(1); return 0; }
        """,
    )
    project.write(
        "main.c",
        """
        #include "ring.h"

        static int next(int at) { return at; }

        int main(void) { ring_new(); return next(2) + missing(); }
        """,
    )
    assert project.callers("ring_new") == {"main.c::main"}
    assert project.callers("ring.c::next") == {"ring.c::ring_new"}
    assert project.callers("main.c::next") == {"main.c::main"}
    assert project.foreign("main") == {"missing": 1}


def test_cpp_by_class_namespace_and_pointer(project: Project) -> None:
    project.write(
        "shape.hpp",
        """
        namespace geo {
        class Shape { public: virtual double area() const; void draw(); int id() { return next_id(); } };
        class Circle : public Shape { Shape *inner; public: Circle(double r); double area() const override; };
        int next_id();
        }
        """,
    )
    project.write(
        "shape.cpp",
        """
        #include "shape.hpp"
        namespace geo {
        int next_id() { return 1; }
        void Shape::draw() { area(); this->id(); }
        double Shape::area() const { return 0; }
        Circle::Circle(double r) {}
        double Circle::area() const { inner->draw(); return Shape::area(); }
        }
        """,
    )
    project.write(
        "main.cpp",
        """
        #include "shape.hpp"
        int main() {
            geo::Circle circle(2.0);
            auto *made = new geo::Circle(1.0);
            made->draw();
            return geo::next_id();
        }
        """,
    )
    assert project.callers("Shape.draw") == {"shape.cpp::geo.Circle.area", "main.cpp::main"}
    assert project.callers("geo.next_id") == {"main.cpp::main", "shape.hpp::geo.Shape.id"}
    assert project.callers("Shape.area") == {"shape.cpp::geo.Shape.draw", "shape.cpp::geo.Circle.area"}
    assert project.callers("shape.hpp::geo.Circle") == {"main.cpp::main"}
    assert project.callees("Shape.draw") == {"shape.cpp::geo.Shape.area", "shape.hpp::geo.Shape.id"}


def test_ruby_by_self_constant_and_bare_word(project: Project) -> None:
    project.write(
        "lib/store.rb",
        """
        module Shop
          class Store < Base
            attr_reader :log
            def initialize(size)
              super()
              @log = Log.new
            end

            def get(key)
              @log.line(key)
              find key
              ready?
              self.check
            end

            def find(key); log.line(key); end

            def self.open; new(1); end
          end

          class Log
            def line(text); end
          end
        end
        """,
    )
    project.write(
        "lib/base.rb",
        """
        module Shop
          class Base
            def initialize; end
            def check; end
            def ready?; true; end
          end
        end
        """,
    )
    project.write(
        "main.rb",
        """
        require_relative 'lib/store'

        def run
          store = Shop::Store.open
          Shop::Store.new(2).get(1)
        end

        run
        """,
    )
    assert project.callers("Store.get") == {"main.rb::run"}
    assert project.callers("Store.open") == {"main.rb::run"}
    assert project.callers("run") == {"main.rb::"}
    assert project.callers("Log.line") == {"lib/store.rb::Shop.Store.get", "lib/store.rb::Shop.Store.find"}
    assert project.callees("Store.get") == {
        "lib/store.rb::Shop.Log.line",
        "lib/store.rb::Shop.Store.find",
        "lib/base.rb::Shop.Base.check",
        "lib/base.rb::Shop.Base.ready?",
    }
    assert project.callers("Base.initialize") == {"lib/store.rb::Shop.Store.initialize"}
    assert project.callers("lib/store.rb::Shop.Store") == {"main.rb::run", "lib/store.rb::Shop.Store.open"}


def test_languages_do_not_call_each_other(project: Project) -> None:
    project.write("a.py", "def start(): pass\n")
    project.write("a.rb", "def start; end\n\nstart\n")
    assert project.callers("a.py::start") == set()
    assert project.callers("a.rb::start") == {"a.rb::"}


@pytest.mark.parametrize(
    ("file", "text", "constructor", "callers"),
    [
        (
            "A.java",
            "class A {\n A(int x) {}\n}\nclass B extends A {\n B() {\n super(1);\n }\n"
            " A make() {\n return new A(2);\n }\n B other() {\n return new B();\n }\n}\n",
            "A.A",
            {"B.B", "B.make"},
        ),
        (
            "a.js",
            "class A {\n constructor(x) {}\n}\nclass B extends A {}\nclass C extends A {\n constructor() {\n"
            " super(1);\n }\n}\nfunction f() { new A(); }\nfunction g() { new B(); }\nfunction h() { new C(); }\n",
            "A.constructor",
            {"C.constructor", "f", "g"},
        ),
        (
            "a.rb",
            "class A\n def initialize(x)\n end\nend\nclass B < A\nend\ndef f\n A.new(1)\nend\ndef g\n B.new(1)\nend\n",
            "A.initialize",
            {"f", "g"},
        ),
        ("a.cpp", "class A {\npublic:\n A(int x) {}\n};\nA* f() { return new A(1); }\n", "A.A", {"f"}),
    ],
)
def test_making_an_instance_calls_the_constructor(
    file: str, text: str, constructor: str, callers: set[str], project: Project
) -> None:
    project.write(file, text)
    assert project.callers(constructor) == {f"{file}::{name}" for name in callers}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("A.java", "class A {\n void step() {}\n}\nclass B extends A {\n void step() {\n super.step();\n }\n}\n"),
        ("a.ts", "class A {\n step() {}\n}\nclass B extends A {\n step() {\n super.step();\n }\n}\n"),
        ("a.rb", "class A\n def step\n end\nend\nclass B < A\n def step\n super\n end\nend\n"),
        (
            "a.cpp",
            "class A {\npublic:\n void step() {}\n};\nclass B : public A {\n void step() {\n A::step();\n }\n};\n",
        ),
    ],
)
def test_a_method_that_calls_the_one_it_overrides_does_not_call_itself(file: str, text: str, project: Project) -> None:
    project.write(file, text)
    assert project.callers("A.step") == {f"{file}::B.step"}
    assert project.callers("B.step") == set()
