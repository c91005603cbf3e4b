# HDF5 files open in h5py, h5netcdf, netCDF4 and xarray, with names, units and dates, and values are read when asked for.
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import h5py, h5netcdf, netCDF4, xarray' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || exit 77
d=$SOURCE/data/captures
make_ranks "$d/gpus.cwd" 30 . && metric-eval merge run.*.cwd -o ranks.cwd && metric-eval ranks.cwd -q -o ranges.h5 >/dev/null
metric-eval "$d/pm_stream.cwd" -q -o samples.h5 >/dev/null; metric-eval "$d/trace_kinds.cwd" -q -o trace.h5 >/dev/null
metric-eval "$d/pc_gemm.cwd" -q -o pc.h5 >/dev/null; metric-eval "$d/sass_gemm.cwd" -q -o sass.h5 >/dev/null; metric-eval ranks ranks.cwd -q -o job.h5 >/dev/null
metric-eval "$d/multi.cwd" -q --by kernel -o kernels.h5 >/dev/null
cat >read.py <<'END'
import csv, sys, warnings
import h5py, h5netcdf, netCDF4, numpy, xarray

warnings.simplefilter("error", UserWarning)
METRIC = "gpu__time_duration.sum"


def groups(node, path="/"):
    """Of h5py: each group with datasets."""
    if any(isinstance(x, h5py.Dataset) for x in node.values()):
        yield path
    for name, child in node.items():
        if isinstance(child, h5py.Group):
            yield from groups(child, path.rstrip("/") + "/" + name)


print("== h5py")
with h5py.File("ranges.h5") as f:
    print(f.attrs["conventions"], dict(f["range"].items())["value"].shape, f["range/value"].dims[0].label, list(f["range/value"].dims[1]))
    names = f["range/metric"].asstr()[()]
    column = list(names).index(METRIC)
    values = f["range/value"][:, column]
    kernels, units = f["range/kernel"].asstr()[()], f["range/unit"].asstr()[()]
    print(kernels[0], names[column], units[column], f["range/status"].attrs["flag_meanings"].split()[:2])
print("== h5netcdf")
with h5netcdf.File("ranges.h5", "r") as f:
    g = f["range"]
    print(g.variables["value"].dimensions, g.dimensions["range"].size, (g.variables["value"][:, column] == values).all())
print("== netCDF4")
with netCDF4.Dataset("ranges.h5") as f:
    g = f["range"]
    print(g["value"].dimensions, g["kernel"][3] == kernels[3], g["host_start_ns"].units, (g["value"][:, column] == values).all())
    date = netCDF4.num2date(g["host_start_ns"][0] // 10**9, "seconds since 1970-01-01")
    print(date.year)
print("== xarray")
for engine in "netcdf4", "h5netcdf":
    with xarray.open_dataset("ranges.h5", group="range", engine=engine) as ds:
        lazy = not ds.value.variable._in_memory
        one = ds.value.sel(metric=METRIC)
        print(engine, lazy, dict(ds.sizes), (one.values == values).all(), ds.unit.sel(metric=METRIC).item(), ds.host_start_ns.dtype,
              str(ds.host_start_ns.values[0])[:4], ds.kernel.values[3] == kernels[3])
        by_rank = one.groupby(ds["rank"].astype(int)).mean()
        print(by_rank.sizes["rank"], bool((by_rank > 0).all()))
    with xarray.open_dataset("samples.h5", group="pm", engine=engine) as ds:
        print(engine, dict(ds.sizes), ds.time_end.dtype, ds.value.dims, bool((ds.time_end > ds.time_start).all()))
print("== every group of every file, in all four")
for path in sys.argv[1:]:
    with h5py.File(path) as f:
        paths = list(groups(f))
    for group in paths:
        sizes = []
        for engine in "netcdf4", "h5netcdf":
            with xarray.open_dataset(path, group=group, engine=engine) as ds:
                sizes.append(dict(ds.load().sizes))
        with netCDF4.Dataset(path) as a, h5netcdf.File(path, "r") as b:
            a = a if group == "/" else a[group]
            b = b if group == "/" else b[group]
            assert set(a.variables) == set(b.variables), group
        assert sizes[0] == sizes[1], (path, group, sizes)
        print(path, group, sorted(sizes[0]))
print("== whose times they are")
for path, names in {
    "ranges.h5": ("range/host_start_ns", "range/host_end_ns", "capture/duration_ns"),
    "samples.h5": ("pm/time_start", "pm/time_end", "launch/time_start", "launch/time_end"),
    "trace.h5": ("timeline/kernel/start_ns", "timeline/kernel/end_ns", "timeline/kernel/call_start_ns", "timeline/runtime/end_ns"),
    "pc.h5": ("pc/batch/host_start_ns", "pc/batch/host_end_ns"),
}.items():
    with h5py.File(path) as f:
        for name in names:
            print(path, name, dict(sorted((k, f[name].attrs[k]) for k in ("units", "long_name"))))
print("== instructions")
for engine in "netcdf4", "h5netcdf":
    with xarray.open_dataset("pc.h5", group="pc", engine=engine) as ds, open("pc.csv", newline="") as f:
        rows = list(csv.DictReader(f))
        for name in ds.data_vars:
            assert [str(v) for v in ds[name].values] == [r[name] for r in rows], name
        hot = ds.samples.groupby(ds.line).sum()
        print(engine, dict(ds.sizes), int(ds.samples.sum()), "hottest line", int(hot.idxmax("line")))
    with xarray.open_dataset("sass.h5", group="sass", engine=engine) as ds:
        of = ds.value.values[int(ds["first"][5]):][:int(ds.instances[5])]
        print(engine, dict(ds.sizes), int(of.sum()) == int(ds["sum"][5]), ds["first"].long_name[:23])
print("== the same as CSV")
with open("ranges.csv", newline="") as f:
    rows = [float(r["value"]) for r in csv.DictReader(f) if r["metric"] == METRIC]
print(numpy.array_equal(rows, values))
END
metric-eval ranks.cwd -q --tidy --csv ranges.csv >/dev/null; metric-eval "$d/pc_gemm.cwd" -q --csv pc.csv >/dev/null
"$python" read.py ranges.h5 samples.h5 trace.h5 pc.h5 sass.h5 job.h5 kernels.h5
