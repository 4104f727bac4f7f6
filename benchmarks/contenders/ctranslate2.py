"""CTranslate2 itself, on the same weights as this package, in the setting that the row names.

spread = "workers": one thread per worker and one worker per core, the best setting found by hand for these model sizes;
spread = "threads": all threads in one worker, the library's default.
"""

import json

import ctranslate2
import protocol

from clearformer.inference.engines import converted


def main() -> None:
    job = protocol.Job()
    folder = converted(job.model_folder).path
    workers = job.threads if job.options["spread"] == "workers" else 1
    engine = ctranslate2.Translator(
        str(folder), compute_type=job.options["compute"], inter_threads=workers, intra_threads=job.threads // workers
    )
    [listed] = [*folder.glob("shared_vocabulary.json"), *folder.glob("source_vocabulary.json")][:1]
    names = json.loads(listed.read_text(encoding="utf-8"))

    def translate(sources: list[list[int]], beam: int) -> int:
        found = engine.translate_batch(
            [[names[number] for number in source] for source in sources],
            beam_size=beam, max_batch_size=64, max_input_length=0, max_decoding_length=2 * job.length,
        )  # fmt: skip
        return sum(len(one.hypotheses[0]) + 1 for one in found)  # and the end token

    protocol.decode(job, translate, package="ctranslate2", whole=True)


if __name__ == "__main__":
    main()
