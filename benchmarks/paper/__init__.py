"""The paper beside what was run: the generated parts of docs/paper.md and of the README.

python -m benchmarks.paper --from results/ [--write docs/paper.md] [--readme README.md] [--pictures docs/pictures]

Every number comes from the files in the folder: runs (`incenter study export`), tables of geometry (`incenter study
geometry`) and costs (`benchmarks.method_steps`). What is not there yet is named, with the command that makes it.
"""
