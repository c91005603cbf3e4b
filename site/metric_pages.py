"""Pages of every metric of the chips, as the command counterworks describes them: a page for each chip and unit, with at
most MOST metrics."""

import collections
import concurrent.futures
import html
import json
import os
import subprocess

MOST = 400
AT_ONCE = 1000 # metrics that one command describes


def asked(bin_folder, *words):
    """The JSON that a command prints."""
    command = [bin_folder / "counterworks", *words, "--format", "json", "--quiet"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"make_site: exit {done.returncode}: counterworks {' '.join(words[:3])}")
    return json.loads(done.stdout)


def described(bin_folder, chip, most):
    """All metrics of a chip, by name, also the ones for sampling over time alone; or `most` of them."""
    names = {m["name"] for profiler in ("range", "pm")
             for m in asked(bin_folder, "find", "--chip", chip, "--profiler", profiler)}
    names = sorted(names)[:most]
    return [m for i in range(0, len(names), AT_ONCE)
            for m in asked(bin_folder, "describe", "--chip", chip, *names[i:i + AT_ONCE])]


def passes(metric):
    if metric["passes"] is None:
        return "not collected alone"
    return {0: "no pass: it is recorded", 1: "1 pass"}.get(metric["passes"], f"{metric['passes']} passes")


def entry(metric):
    name, unit = html.escape(metric["name"]), html.escape(metric["unit"])
    reading = f"<p>{html.escape(metric['reading'])}</p>" if metric["reading"] else ""
    return (f'<dt id="{name}"><a href="#{name}">{name}</a></dt>'
            f'<dd><p>{html.escape(metric["description"] or "")}</p>{reading}'
            f'<pre>{html.escape(metric["formula"])}</pre>'
            f'<p class="facts">{html.escape(metric["type"])}, measured in {unit}, {passes(metric)}</p></dd>')


def pieces(metrics):
    """Lists of at most MOST metrics, of about one size."""
    count = -(-len(metrics) // MOST)
    size = -(-len(metrics) // count)
    return [metrics[i:i + size] for i in range(0, len(metrics), size)]


def chip_pages(folder, chip, others, metrics):
    """Writes the pages of a chip. Returns the names on each page."""
    units = collections.defaultdict(list)
    for metric in metrics:
        units[metric["hardware_unit"] or "launch and device"].append(metric)
    (folder / chip).mkdir(parents=True)
    names, rows = {}, []
    for unit, members in sorted(units.items()):
        parts = pieces(members)
        for number, part in enumerate(parts, 1):
            word = unit.split()[0] + (f"-{number}" if len(parts) > 1 else "")
            title = f"{chip}: {unit}" + (f", {number} of {len(parts)}" if len(parts) > 1 else "")
            (folder / chip / f"{word}.md").write_text(
                f"---\norphan: true\n---\n\n# {title}\n\n[Metrics](../index.md), [{chip}](index.md): "
                f"`{part[0]['name']}` to `{part[-1]['name']}`\n\n"
                f'```{{raw}} html\n<dl class="metrics">\n' + "\n".join(map(entry, part)) + "\n</dl>\n```\n")
            names[f"metrics/{chip}/{word}"] = [m["name"] for m in part]
            rows.append(f"| [{title.removeprefix(chip + ': ')}]({word}.md) | {len(part)} | `{part[0]['name']}` |")
    alike = f" {', '.join(others)} {'has' if len(others) == 1 else 'have'} the same metrics." if others else ""
    (folder / chip / "index.md").write_text(
        f"---\norphan: true\n---\n\n# {chip}\n\n[Metrics](../index.md): {len(metrics):,} of {chip}.{alike}\n\n"
        "| unit | metrics | from |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n")
    return names


def write(folder, bin_folder, few=None):
    """Writes the pages of all chips, or of a few with so many metrics. Returns the names on each page."""
    files = collections.defaultdict(list)
    for chip in asked(bin_folder, "chips"):
        files[chip["file"]].append(chip["name"])
    chips = {chips[0]: chips[1:] for chips in files.values() if not few or chips[0] in few}
    most = few or dict.fromkeys(chips)
    names, rows = {}, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool: # which wait for commands
        every = pool.map(lambda chip: described(bin_folder, chip, most[chip]), chips)
        for (chip, others), metrics in zip(chips.items(), every):
            names.update(chip_pages(folder, chip, others, metrics))
            rows.append(f"| [{chip}]({chip}/index.md) | {', '.join(others)} | {len(metrics):,} |")
    (folder / "index.md").write_text(
        "# Metrics\n\nEvery metric of each chip: its name, meaning, formula, unit, and the passes that it takes when "
        "collected alone. The search finds them by parts of their names, and of one chip by its name beside them: "
        "`GH100 lts hit rate`.\n\n"
        "A counter stands here by its sum. Other full names of it end in another rollup or in a sub-metric: "
        "[the meaning of every name](../data/schema.md).\n\n"
        "| chip | chips with the same metrics | metrics |\n| --- | --- | --- |\n" + "\n".join(sorted(rows)) + "\n")
    return names
