"""Queries that no recorded session can answer, by sort: a search has to say that it found nothing certain."""

EVERYDAY = (
    "banana smoothie recipe", "how long to boil eggs", "best hiking trails near Innsbruck", "red wine stain on carpet",
    "birthday present for my father", "how to prune tomato plants", "train from Vienna to Prague tomorrow",
    "dentist appointment reminder", "knitting pattern for a wool scarf", "what to feed a hedgehog",
    "sourdough starter smells of acetone", "cheap flights to Lisbon in May", "how tall is Mount Kilimanjaro",
    "yoga routine for back pain", "football results of last weekend", "paint colour for a small bathroom",
    "symptoms of the flu", "mortgage payment over 25 years", "how to tune a ukulele", "cat keeps scratching the sofa",
)  # fmt: skip
KNOWLEDGE = (
    "who painted the Sistine Chapel", "difference between violin and viola", "when did the Roman empire fall",
    "why is the sky blue", "capital of Australia", "plot of Hamlet in two sentences", "how do volcanoes erupt",
    "which planets have rings", "photosynthesis explained to a child", "longest river in South America",
)  # fmt: skip
OTHER_STACKS = (
    "Flutter hot reload does not work on the iOS simulator", "COBOL copybook with packed decimal fields",
    "Verilog testbench for a FIFO", "Unity shader flickers on Android", "LaTeX bibliography is not sorted",
    "Excel pivot table over several sheets", "Photoshop layer masks", "Spring Boot bean circular reference",
    "Kafka consumer lag after rebalancing", "PHP Laravel eloquent eager loading",
    "Rails asset pipeline precompile on Heroku", "Kotlin coroutines in an Android view model",
    "SwiftUI list does not refresh", "Excel VBA macro to send mails", "Arduino servo jitters",
    "CUDA out of memory while training a transformer", "Oracle tablespace is full", "SAP ABAP batch input",
    "Django admin inline formset validation", "Elasticsearch shard allocation failed",
    "WordPress plugin for a contact form", "MATLAB matrix inverse is singular", "Perl CGI script upload",
    "Blender render farm setup", "Hadoop namenode safe mode", "jQuery datepicker locale",
    "Minecraft mod with Forge gradle", "ROS navigation stack costmap", "Salesforce apex trigger recursion",
    "Jenkins groovy pipeline shared library", "Cassandra tombstones compaction", "Solidity reentrancy guard",
    "Haskell monad transformer stack", "FPGA timing closure", "OpenGL framebuffer is black",
    "R ggplot legend position", "pandas dataframe merge on index", "Redis cluster failover",
    "Delphi form designer crashes", "Fortran common block alignment",
)  # fmt: skip
WORK_TALK = (
    "who is on call next weekend", "agenda for the offsite in March", "salary bands for senior engineers",
    "customer complaint about the invoice of ACME", "slides for the investor meeting",
    "vacation policy for part time staff", "office printer out of toner", "interview questions for a designer",
    "quarterly marketing budget", "parking permit for visitors",
)  # fmt: skip
OTHER_LANGUAGES = (
    "Rezept für Apfelstrudel", "Wie spät ist es in Tokio?", "Öffnungszeiten der Bibliothek am Samstag",
    "Quelle est la capitale de l'Australie ?", "recette de la ratatouille", "horaires du musée le dimanche",
    "¿Cómo se hace una tortilla de patatas?", "vuelos baratos a Buenos Aires", "今天天气怎么样", "番茄炒蛋怎么做",
    "Как приготовить борщ", "ricetta del tiramisù",
)  # fmt: skip
NAMES = (
    "frobnicate the zeta widget", "PaymentReconciliationService", "invoice_rounding_half_even",
    "src/checkout/basket.kt", "ERR_PYRAMID_OVERFLOW", "LedgerExportJob fails on Mondays", "tax_table_switzerland",
    "GlacierArchiveTier", "hummingbird feeder firmware", "KubernetesPodEvictor",
)  # fmt: skip
SORTS = {
    "everyday": EVERYDAY,
    "knowledge": KNOWLEDGE,
    "other stacks": OTHER_STACKS,
    "work talk": WORK_TALK,
    "other languages": OTHER_LANGUAGES,
    "names": NAMES,
}
UNRELATED = tuple(query for queries in SORTS.values() for query in queries)
