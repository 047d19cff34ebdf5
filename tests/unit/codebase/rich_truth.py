"""Who calls whom in rich 15.0.0, for 32 names, found by grep and reading before any of our code was asked.

What counts: a call through a local name for a function (`get_style = console.get_style`) and through a name it was
imported under; making an instance, as a call of the class; everything written inside a symbol, nested functions
included, as called by it. What does not: reading a property, operators, `with`, functions handed on to be called."""

from dataclasses import dataclass

VERSION = "15.0.0"


@dataclass(frozen=True, slots=True)
class Truth:
    """A symbol, those that call it and those it calls, as `FILE::NAME`; `FILE::` is a file's top level."""

    name: str
    callers: frozenset[str]
    callees: frozenset[str]
    undecided: frozenset[str] = frozenset()
    """Callees that reading does not decide, because a value may be any of several things."""


def truth(name: str, callers: str, callees: str = "", undecided: str = "") -> Truth:
    def full(names: str) -> frozenset[str]:
        return frozenset(f"rich/{one}" for one in names.split())

    return Truth(f"rich/{name}", full(callers), full(callees), full(undecided))


# `obj.__rich_repr__()` of an object that may be anything.
_ANY_REPR = """
    color.py::Color.__rich_repr__ layout.py::Layout.__rich_repr__ repr.py::Foo.__rich_repr__
    segment.py::Segment.__rich_repr__ style.py::Style.__rich_repr__
    """
TRUTHS = (
    # Functions, imported by most modules.
    truth(
        "cells.py::cell_len",
        """
        _wrap.py::divide_line cells.py::set_cell_size console.py::Console.export_svg containers.py::Lines.justify
        panel.py::Panel.__rich_console__.align_text pretty.py::Pretty.__rich_measure__ pretty.py::Node.check_length
        pretty.py::_Line.check_length rule.py::Rule.__init__ rule.py::Rule.__rich_console__
        segment.py::Segment.cell_length segment.py::Segment._split_cells segment.py::Segment.get_line_length
        syntax.py::Syntax.__rich_measure__ text.py::Text.cell_len text.py::Text.__rich_measure__
        text.py::Text.truncate text.py::Text.align
        """,
        "cells.py::cached_cell_len cells.py::_cell_len",
    ),
    truth(
        "_loop.py::loop_last",
        """
        _wrap.py::divide_line box.py::Box.get_top box.py::Box.get_row box.py::Box.get_bottom
        live_render.py::LiveRender.__rich_console__ pretty.py::_Line.expand pretty.py::traverse._traverse
        screen.py::Screen.__rich_console__ table.py::Table._render text.py::Text.join.iter_text
        traceback.py::Traceback.__rich_console__.render_stack traceback.py::Traceback.__rich_console__
        tree.py::Tree.__rich_console__
        """,
    ),
    # Called at the top level of a module.
    truth("_ratio.py::ratio_resolve", "_ratio.py:: layout.py::RowSplitter.divide layout.py::ColumnSplitter.divide"),
    # Called by the setter of a property.
    truth(
        "control.py::strip_control_codes",
        "text.py::Text.__init__ text.py::Text.plain text.py::Text.append text.py::Text.append_tokens",
    ),
    # Imported under its own name and another, and of a very common one.
    truth(
        "markup.py::render",
        "console.py::Console.render_str text.py::Text.from_markup",
        """
        _emoji_replace.py::_emoji_replace text.py::Text text.py::Text.append style.py::Style.normalize
        markup.py::_parse markup.py::render.pop_style errors.py::MarkupError markup.py::Tag text.py::Span
        style.py::Style
        """,
    ),
    # Others import html's `escape`, or define their own.
    truth("markup.py::escape", "text.py::Text.markup"),
    # Defined in the package's own file.
    truth(
        "__init__.py::get_console",
        """
        __init__.py::reconfigure __init__.py::print __init__.py::print_json __init__.py::inspect
        jupyter.py::JupyterMixin._repr_mimebundle_ jupyter.py::print live.py::Live.__init__
        logging.py::RichHandler.__init__ pretty.py::_ipy_display_hook pretty.py::install pretty.py::pprint
        progress.py::Progress.__init__ prompt.py::PromptBase.__init__
        """,
        "console.py::Console",
    ),
    # Of the name of a builtin, which most modules mean.
    truth(
        "__init__.py::print",
        """
        __init__.py:: _windows.py:: markup.py:: padding.py:: pretty.py:: prompt.py:: scope.py:: scope.py::test
        styled.py::
        """,
        "__init__.py::get_console console.py::Console console.py::Console.print",
    ),
    # Imported under another name inside a function that has its name.
    truth(
        "pretty.py::is_expandable",
        "console.py::Console._collect_renderables.is_expandable",
        "pretty.py::_safe_isinstance pretty.py::_is_attr_object",
    ),
    # Called by way of its module.
    truth(
        "pretty.py::traverse",
        "pretty.py::pretty_repr traceback.py::Traceback.extract",
        """
        pretty.py::traverse.to_repr pretty.py::traverse._traverse pretty.py::traverse._traverse.iter_rich_args
        pretty.py::traverse._traverse.iter_attrs pretty.py::_safe_isinstance pretty.py::Node _loop.py::loop_last
        pretty.py::_is_attr_object pretty.py::_get_attr_fields pretty.py::_is_dataclass_repr
        pretty.py::_is_namedtuple pretty.py::_has_default_namedtuple_repr
        """,
        undecided=_ANY_REPR,
    ),
    # Inside another function, calling itself.
    truth(
        "pretty.py::traverse._traverse",
        "pretty.py::traverse._traverse pretty.py::traverse",
        """
        pretty.py::traverse.to_repr pretty.py::traverse._traverse pretty.py::traverse._traverse.iter_rich_args
        pretty.py::traverse._traverse.iter_attrs pretty.py::_safe_isinstance pretty.py::Node _loop.py::loop_last
        pretty.py::_is_attr_object pretty.py::_get_attr_fields pretty.py::_is_dataclass_repr
        pretty.py::_is_namedtuple pretty.py::_has_default_namedtuple_repr
        """,
        undecided=_ANY_REPR,
    ),
    # Of the name of its module, called through a local name once.
    truth(
        "_emoji_replace.py::_emoji_replace",
        "console.py::Console.render_str emoji.py::Emoji.replace markup.py::render",
    ),
    # Never called.
    truth("color.py::parse_rgb_hex", "", "color_triplet.py::ColorTriplet"),
    # Classes.
    truth(
        "constrain.py::Constrain",
        """
        align.py::Align.__rich_console__ columns.py::Columns.__rich_console__
        traceback.py::Traceback.__rich_console__.render_stack
        """,
        "console.py::ConsoleOptions.update_width console.py::Console.render measure.py::Measurement.get",
    ),
    truth(
        "_log_render.py::LogRender",
        "console.py::Console.__init__ logging.py::RichHandler.__init__",
        """
        table.py::Table.grid table.py::Table.add_column table.py::Table.add_row text.py::Text text.py::Text.append
        containers.py::Renderables
        """,
    ),
    truth(
        "region.py::Region",
        "layout.py::RowSplitter.divide layout.py::ColumnSplitter.divide layout.py::Layout._make_region_map",
    ),
    # Methods: of a parameter, of self, and through a local name.
    truth(
        "console.py::Console.render_lines",
        """
        align.py::VerticalCenter.__rich_console__ console.py::Console.update_screen layout.py::Layout.refresh_screen
        layout.py::Layout.render live_render.py::LiveRender.__rich_console__
        markdown.py::BlockQuote.__rich_console__ markdown.py::ListItem.render_bullet
        markdown.py::ListItem.render_number padding.py::Padding.__rich_console__ panel.py::Panel.__rich_console__
        screen.py::Screen.__rich_console__ syntax.py::Syntax._get_syntax table.py::Table._render
        tree.py::Tree.__rich_console__
        """,
        """
        console.py::Console.render segment.py::Segment.apply_style segment.py::Segment.split_and_crop_lines
        segment.py::Segment
        """,
    ),
    truth(
        "console.py::Console._collect_renderables",
        "console.py::Console.print console.py::Console.log",
        """
        pretty.py::is_expandable align.py::Align text.py::Text text.py::Text.join protocol.py::rich_cast
        console.py::Console.render_str console.py::Console._collect_renderables.check_text
        console.py::Console._collect_renderables.is_expandable
        console.py::Console._collect_renderables.align_append pretty.py::Pretty console.py::Console.get_style
        styled.py::Styled
        """,
        undecided="highlighter.py::Highlighter.__call__",
    ),
    # A class method of the name that every dict has.
    truth(
        "measure.py::Measurement.get",
        """
        align.py::Align.__rich_measure__ align.py::VerticalCenter.__rich_measure__
        columns.py::Columns.__rich_console__ console.py::Console.measure constrain.py::Constrain.__rich_measure__
        containers.py::Renderables.__rich_measure__ measure.py::measure_renderables
        padding.py::Padding.__rich_console__ padding.py::Padding.__rich_measure__
        spinner.py::Spinner.__rich_measure__ styled.py::Styled.__rich_measure__ table.py::Table._measure_column
        tree.py::Tree.__rich_measure__
        """,
        """
        console.py::Console.render_str protocol.py::rich_cast protocol.py::is_renderable
        measure.py::Measurement.normalize measure.py::Measurement.with_maximum measure.py::Measurement
        errors.py::NotRenderableError
        """,
    ),
    truth(
        "table.py::Table._calculate_column_widths",
        "table.py::Table.__rich_measure__ table.py::Table.__rich_console__",
        """
        table.py::Table._measure_column table.py::Table._get_padding_width table.py::Table._collapse_widths
        _ratio.py::ratio_distribute _ratio.py::ratio_reduce console.py::ConsoleOptions.update_width
        """,
    ),
    truth(
        "segment.py::Segment.set_shape",
        "align.py::Align.__rich_console__ screen.py::Screen.__rich_console__ table.py::Table._render",
        "segment.py::Segment segment.py::Segment.adjust_line_length",
    ),
    truth("segment.py::Segment.get_line_length", "segment.py::Segment.get_shape", "cells.py::cell_len"),
    # Of what comes out of a loop over tuples.
    truth(
        "style.py::Style.get_html_style",
        "console.py::Console.export_html jupyter.py::_render_segments",
        "color.py::Color.get_truecolor color.py::Color.from_triplet color.py::blend_rgb",
    ),
    # Inherited by the classes it is called on.
    truth("prompt.py::PromptBase.ask", "prompt.py::", "prompt.py::PromptBase prompt.py::PromptBase.__call__"),
    # Overridden.
    truth(
        "prompt.py::PromptBase.process_response",
        "prompt.py::PromptBase.__call__",
        "prompt.py::InvalidResponse prompt.py::PromptBase.check_choice",
    ),
    truth(
        "markdown.py::MarkdownContext.enter_style",
        "markdown.py::TextElement.on_enter markdown.py::Heading.on_enter markdown.py::Markdown.__rich_console__",
        "console.py::Console.get_style style.py::StyleStack.push",
    ),
    # Two methods of one name, one calling the other.
    truth("console.py::Console.push_theme", "console.py::ThemeContext.__enter__", "theme.py::ThemeStack.push_theme"),
    truth("theme.py::ThemeStack.push_theme", "console.py::Console.push_theme"),
    # Two methods of one name again; this one also of an element of a list of its own kind.
    truth(
        "live.py::Live.refresh",
        """
        live.py::_RefreshThread.run live.py::Live.start live.py::Live.stop live.py::Live.update live.py::Live.refresh
        progress.py::Progress.refresh
        """,
        """
        live_render.py::LiveRender.set_renderable live.py::Live.refresh console.py::Console.print control.py::Control
        """,
    ),
    truth(
        "progress.py::Progress.advance",
        """
        progress.py::_TrackThread.run progress.py::_Reader.__next__ progress.py::_Reader.read
        progress.py::_Reader.readinto progress.py::_Reader.readline progress.py::_Reader.readlines
        progress.py::Progress.track
        """,
        "progress.py::ProgressSample",
    ),
    # Of the name that every str has.
    truth(
        "text.py::Text.join",
        """
        console.py::Console._collect_renderables.check_text containers.py::Lines.justify file_proxy.py::FileProxy.write
        syntax.py::Syntax._get_syntax text.py::Text.from_ansi text.py::Text.__rich_console__
        text.py::Text.expand_tabs text.py::Text.with_indent_guides
        """,
        "text.py::Text.blank_copy text.py::Text.join.iter_text text.py::Span _loop.py::loop_last",
    ),
    # Another class, of no relation, defines it too.
    truth(
        "text.py::Text.truncate",
        """
        containers.py::Lines.justify panel.py::Panel.__rich_console__.align_text rule.py::Rule.__rich_console__
        rule.py::Rule._rule_line text.py::Text.align text.py::Text.wrap
        """,
        "cells.py::cell_len cells.py::set_cell_size",
    ),
)
