"""Prompts that need no memory. The own ones stand here; of the real ones only where they are: session and turn."""

SMALL_TALK = (
    "hi", "Hello!", "hey there", "good morning", "Thanks!", "thank you, that was great", "perfect", "ok", "okay then",
    "yes", "yep, do it", "no", "nope, leave it", "continue", "Continue please", "go on", "go ahead", "keep going",
    "proceed with the next step", "sounds good, let's do that", "looks good to me", "lgtm, ship it", "wait", "stop",
    "try again", "undo that", "one more time please", "what do you think?", "are you sure?", "why?", "and now?",
    "option 2", "1", "the second one", "both of them", "do all of it", "let's take a break, see you tomorrow",
    "great work today, I am done for now",
)  # fmt: skip
OTHER_LANGUAGES = (
    "Danke, das sieht gut aus", "Ja, bitte mach weiter", "Kannst du mir das noch einmal erklären?", "Weiter geht's",
    "Wie spät ist es in Tokio?", "Merci beaucoup, c'est parfait", "Oui, vas-y", "Peux-tu recommencer ?",
    "Quelle est la capitale de l'Australie ?", "Gracias, eso es todo", "Sí, adelante",
    "¿Puedes repetirlo más despacio?", "Obrigado, pode continuar", "Grazie mille, procedi pure",
    "好的，谢谢", "继续", "请再解释一遍", "今天天气怎么样？",
    "はい、お願いします", "ありがとうございます", "続けてください", "네, 계속해 주세요",
    "Спасибо, продолжай", "Dziękuję, kontynuuj",
)  # fmt: skip
NEW_TOPICS = (
    "Write a haiku about the sea in winter",
    "What is the difference between a violin and a viola?",
    "How long should I boil eggs so that the yolk stays soft?",
    "Suggest a name for my sister's new bakery",
    "Explain photosynthesis to a ten year old",
    "Which planets have rings?",
    "Convert 72 degrees Fahrenheit to Celsius",
    "Draft a polite letter to my landlord about the broken heating",
    "Give me three ideas for a birthday present for my father",
    "Who painted the ceiling of the Sistine Chapel?",
    "Summarise the plot of Hamlet in two sentences",
    "How do I remove red wine from a carpet?",
    "Plan a weekend in Lisbon for two people",
    "What does the Latin phrase carpe diem mean?",
    "Recommend a good beginner yoga routine",
    "How tall is Mount Kilimanjaro?",
    "Translate 'the train is late' into Swedish",
    "What should I feed a hedgehog that I found in the garden?",
    "Calculate the monthly payment of a loan of 200000 at 3.5 percent over 25 years",
    "Write a limerick about a penguin who learns to ski",
    "What is a good chess opening against 1. e4?",
    "Start a new Flutter app for tracking how much water I drink",
    "Show me how to solder a headphone jack",
    "Make a logo idea for a kayak rental with otters",
    "Write an Excel formula that sums every third row",
)
PASTED_LOGS = (
    """BUILD FAILED in 12s
> Task :app:compileDebugKotlin FAILED
e: MainActivity.kt: (42, 17): Unresolved reference: viewBinding
e: MainActivity.kt: (57, 9): Type mismatch: inferred type is Unit but View? was expected
* What went wrong: Execution failed for task ':app:compileDebugKotlin'.""",
    """[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:2.22.2:test on project ledger:
There are test failures. Please refer to target/surefire-reports for the individual test results.
[ERROR] InvoiceServiceTest.roundsHalfEven:88 expected:<10.24> but was:<10.25>""",
    """Warning: Invalid DOM property `class`. Did you mean `className`?
    at h1 at div at Hero (webpack:///./src/components/Hero.jsx?:14:3)
Uncaught TypeError: Cannot read properties of undefined (reading 'map') at Gallery.jsx:31""",
    """terraform apply
Error: creating EC2 Instance: InvalidSubnetID.NotFound: The subnet ID 'subnet-0a1b2c3d' does not exist
  with aws_instance.bastion, on bastion.tf line 3, in resource "aws_instance" "bastion" """,
    """rails aborted!
ActiveRecord::PendingMigrationError: Migrations are pending. To resolve this issue, run: bin/rails db:migrate
/usr/src/app/config/environment.rb:5:in `<main>' Tasks: TOP => db:seed""",
    """nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)
nginx: [emerg] still could not bind()
systemd[1]: nginx.service: Control process exited, code=exited, status=1/FAILURE""",
    """Traceback (most recent call last):
  File "train.py", line 118, in <module> loss.backward()
RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.90 GiB total capacity; 13.11 GiB allocated)""",
    """kubectl get pods
NAME                         READY   STATUS             RESTARTS   AGE
checkout-6c9f7d4b8-xk2lp     0/1     CrashLoopBackOff   17         64m
catalog-5d8c6b7f9-9wq4z      0/1     ImagePullBackOff   0          12m""",
)
OWN = (*SMALL_TALK, *OTHER_LANGUAGES, *NEW_TOPICS, *PASTED_LOGS)
REAL: dict[str, tuple[int, ...]] = {
    "0bb9a2d9": (3, 5, 8, 10, 12), "a0bd162f": (4,), "9667a07f": (0, 1), "847ff7d2": (2, 4, 5, 7), "4555072a": (3,),
    "569aed7b": (5,), "ccc58457": (3, 4), "488c5296": (1,), "cf564e14": (0,), "3a782158": (6, 10, 11),
    "4ec443d0": (1, 3, 6), "0442a060": (2, 6), "880d23f9": (3, 6), "b25a8b6e": (3,), "559081d6": (0, 1),
    "44df7d08": (15, 18, 19, 20, 25), "e7eb742c": (2, 3), "d1423492": (1,), "21a2e002": (2, 9, 16),
    "deeac353": (1, 2, 3), "9ff9c26d": (2,), "dc577197": (6,), "b00b80af": (11,), "0822e04b": (2, 4, 5, 8),
    "1664f311": (1,), "19abe528": (2,), "43b2bd6e": (0, 4, 9), "0790ea37": (0,), "eb4bcc15": (4, 5, 7),
    "38917d7d": (4, 8, 9), "8b418ea5": (1, 4), "85cc202e": (0, 3), "c2b51eb0": (0, 1), "04cd0da1": (0, 2, 3, 5),
    "250f24a9": (4,), "130d7b7e": (3,), "c26d2153": (1,), "ee6078de": (1, 2), "de1ed521": (1,), "7744721d": (0,),
    "0cf3db51": (0,), "53ea19c1": (7, 8, 10, 11, 12, 13, 14, 15, 16), "59455d2e": (0,), "cacf6cfb": (1,),
}  # fmt: skip
"""Beginnings of session ids, and the places of the turns: answers to a question, requests that any work could follow,
and what nobody can have spoken of before."""
