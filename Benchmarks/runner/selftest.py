"""Tests of the runner on canned results: statistics, verdicts, tables, plots, the published page. Measures nothing."""
import io
import json
import tempfile
import unittest
from pathlib import Path

from . import plots, publishing
from .bars import BARS, Bar
from .clients import CLIENTS, GROUPS, named
from .machine import numbers_in, two_cores
from .measuring import descriptors_for
from .progress import Progress, in_words
from .results import FORMAT, Results, derived, judge, load, median_row, save
from .tables import markdown, plain_text
from .workloads import CASES, METRICS, WORKLOADS, Case, chosen_cases

COST = {"limit": 10, "ours": 14, "peer": 40}


def canned_row(case, client, cost):
    row = {"n": case.total, "rps": 1e6 / cost, "cpu_us_req": cost, "p50_us": cost, "p99_us": 2 * cost,
           "p999_us": 3 * cost, "rss_kb": 9000, "rss_start_kb": 8000, "wall_s": 1.0, "foreign": 0.01,
           "server_us_req": 6, "first_ms": cost / 10,
           "instructions_req": 1000 * cost, "rss_per_connection": 1024 * cost, "rss_per_connection_2": 512 * cost,
           "open": case.concurrency}
    return {"case": case.name, "client": client, **derived(row, case)}


def canned_document(rounds=3):
    samples = [{**canned_row(case, client, COST[CLIENTS[client].kind] + turn), "round": turn + 1}
               for turn in range(rounds) for case in CASES.values() for client in case.clients]
    machine = {"processor": "a <processor> & more", "cores": 2, "share_a_core": True, "memory_gib": 4,
               "roots": 140, "virtual": True, "system": "a system", "kernel": "6.0", "congestion_control": "cubic"}
    return {"format": FORMAT, "when": "today", "revision": "abc", "quick": False, "rounds": rounds, "machine": machine,
            "versions": {"nginx": "1"}, "sizes": {}, "failures": {}, "skipped": {}, "samples": samples}


def document_with(figures, metric="cpu_us_req"):
    """{(case, client): figure}"""
    samples = [{"case": case, "client": client, "round": 1, metric: value} for (case, client), value in figures.items()]
    return {**canned_document(0), "samples": samples}


class Statistics(unittest.TestCase):
    def test_noisy_rounds_do_not_count(self):
        row = median_row([{"rps": 1, "foreign": 0}, {"rps": 3, "foreign": 0.1}, {"rps": 900, "foreign": 0.5}])
        self.assertEqual((row["rps"], row["rounds"], row["quiet"]), (2, 2, True))

    def test_without_a_quiet_round_all_count_and_it_is_said(self):
        row = median_row([{"rps": 1, "foreign": 0.5}, {"rps": 2, "foreign": 0.5}, {"rps": 9, "foreign": 0.5}])
        self.assertEqual((row["rps"], row["rounds"], row["quiet"]), (2, 3, False))

    def test_a_figure_missing_in_one_round(self):
        self.assertEqual(median_row([{"a": 1}, {"a": 3, "b": 5}])["b"], 5)

    def test_figures_of_a_transfer(self):
        case = Case(name="x", title="", clients=(), size=2_000_000_000)
        row = derived({"n": 2, "cpu_us_req": 3e6, "wall_s": 4, "rss_kb": 5120, "rss_start_kb": 1024}, case)
        self.assertEqual((row["cpu_s_gb"], row["mb_s"], row["growth_mib"], row["rss_mib"]), (1.5, 1000, 4, 5))

    def test_figures_of_idle_connections(self):
        row = derived({"rss_per_connection": 2048, "rss_per_connection_2": 0}, CASES["w6-plain-1000"])
        self.assertEqual((row["idle_kib"], row["idle_kib_2"]), (2, 0))

    def test_figures_of_messages(self):
        row = derived({"n": 500, "cpu_us_req": 2e3, "wall_s": 2}, CASES["w11-large"])
        self.assertEqual((row["mib_s"], round(row["cpu_s_gb"], 3)), (250, 1.907))
        self.assertEqual(derived({"n": 9, "cpu_us_req": 12.5}, CASES["w11-64"])["cpu_us_message"], 12.5)

    def test_ratios(self):
        results = Results(document_with({("w1-64", "ceil"): 5, ("w1-64", "completion"): 7, ("w1-64", "libcurl"): 14}))
        self.assertEqual(results.times_limit("w1-64", "completion"), 1.4)
        self.assertEqual(results.times_peer("w1-64", "completion", "libcurl"), 0.5)
        self.assertIsNone(results.times_peer("w1-64", "completion", "foundation"))

    def test_ratios_are_to_the_limit_on_epoll(self):
        figures = {("w1-64", "ceil-uring"): 4, ("w1-64", "ceil"): 5, ("w1-64", "completion"): 7}
        results = Results(document_with(figures))
        self.assertEqual(results.times_limit("w1-64", "completion"), 1.4)
        self.assertEqual(results.times_limit("w1-64", "ceil-uring"), 0.8)
        del figures["w1-64", "ceil"]
        self.assertIsNone(Results(document_with(figures)).times_limit("w1-64", "completion"))

    def test_nothing_is_a_multiple_of_next_to_nothing(self):
        figures = {("w6-plain-1000", "ceil"): 0.003, ("w6-plain-1000", "completion"): 1.3}
        self.assertIsNone(Results(document_with(figures, "idle_kib")).times_limit("w6-plain-1000", "completion"))


class Verdicts(unittest.TestCase):
    def word(self, value, bar=Bar("w1-64", "completion", 1.5, 1.25, against=("w1-64", "ceil"))):
        figures = {("w1-64", "completion"): value, ("w1-64", "ceil"): 10}
        return judge(bar, Results(document_with(figures, bar.metric))).words

    def test_words(self):
        self.assertEqual([self.word(value) for value in (12.5, 12.6, 15, 18)],
                         ["stretch", "within", "within", "OVER by 20 %"])

    def test_more_can_be_better(self):
        bar = Bar("w1-64", "completion", 3, 5, "rps", ("w1-64", "ceil"), at_least=True)
        self.assertEqual([self.word(value, bar) for value in (50, 30, 24)], ["stretch", "within", "MISSED by 20 %"])

    def test_a_figure_by_itself(self):
        self.assertEqual(self.word(30, Bar("w1-64", "completion", 20)), "OVER by 50 %")

    def test_noise_is_part_of_the_verdict(self):
        document = document_with({("w1-64", "completion"): 13, ("w1-64", "ceil"): 10})
        document["samples"][1]["foreign"] = 0.4
        bar = Bar("w1-64", "completion", 1.5, against=("w1-64", "ceil"))
        self.assertEqual(judge(bar, Results(document)).words, "within (noisy)")

    def test_nothing_measured_is_no_verdict(self):
        bar = Bar("w1-64", "completion", 1.5, against=("w1-64", "ceil"))
        self.assertIsNone(judge(bar, Results(document_with({("w1-64", "completion"): 9}))))
        self.assertIsNone(judge(bar, Results(document_with({("w1-64", "ceil"): 9}))))


class Plan(unittest.TestCase):
    def test_bars_are_about_what_is_measured(self):
        for bar in BARS:
            self.assertIn(bar.client, CASES[bar.case].clients, bar)
            if bar.against:
                self.assertIn(bar.against[1], CASES[bar.against[0]].clients, bar)
        self.assertEqual(len(Results(canned_document()).verdicts()), len(BARS))

    def test_every_client_of_a_case_exists(self):
        for case in CASES.values():
            self.assertLessEqual(set(case.clients), set(CLIENTS))

    def test_names_are_unique(self):
        self.assertEqual(len(CASES), sum(len(workload.cases) for workload in WORKLOADS.values()))

    def test_quick_measures_less(self):
        self.assertEqual([case.name for case in chosen_cases(["w1", "w2"], True)], ["w1-64", "w2-64"])
        self.assertLess(chosen_cases(["w3"], True)[0].size, chosen_cases(["w3"], False)[0].size)

    def test_connections_that_wait_need_descriptors_too(self):
        self.assertEqual(descriptors_for(CASES["w15-10000"]), 10_164)
        self.assertEqual(descriptors_for(CASES["w1-64"]), 164)

    def test_what_grows_stands_beside_what_does_not(self):
        for count in (1, 100, 1_000, 10_000):
            case = CASES[f"w15-{count}"]
            self.assertEqual((case.clients[0], case.options), ("known-nothing", ("--known-count", str(count))))

    def test_slow_clients_make_fewer_requests(self):
        case = CASES["w1-64"]
        self.assertEqual(case.count_for(CLIENTS["foundation"]), case.total // 16)
        self.assertEqual(CASES["w3-tls"].count_for(CLIENTS["foundation"]), 2)
        self.assertEqual(CASES["w6-tls-1000"].count_for(CLIENTS["foundation"]), 1000)

    def test_what_is_compiled_while_it_runs_warms_up_longer(self):
        self.assertEqual([CASES["w1-64"].warm_for(CLIENTS[name]) for name in ("go", "undici")], [500, 5000])
        self.assertEqual(CASES["w3-tls"].warm_for(CLIENTS["undici"]), 0)

    def test_groups_of_clients(self):
        self.assertEqual(named(["limit", "async"]), (["ceil", "hello-c", "async"], None))
        self.assertEqual(named(["async", "nobody"]), (None, "nobody"))
        self.assertTrue(all(member in CLIENTS for members in GROUPS.values() for member in members))


class Cores(unittest.TestCase):
    def test_lists_of_the_kernel(self):
        self.assertEqual(numbers_in("0-2,5\n"), [0, 1, 2, 5])
        self.assertEqual(numbers_in(""), [])

    def test_client_and_server_get_real_cores(self):
        self.assertEqual(two_cores({0, 1, 2, 3}, lambda core: [0, 1]), (0, 2))
        self.assertEqual(two_cores({0, 1}, lambda core: [0, 1]), (0, 1))
        self.assertEqual(two_cores({3}, lambda core: []), (3, 3))


class Words(unittest.TestCase):
    def test_the_table_names_every_client_and_verdict(self):
        text = plain_text(Results(canned_document()))
        for client in CLIENTS.values():
            self.assertTrue(client.title in text, client)
        for word in ("OVER by", "within", "stretch", "÷ libcurl"):
            self.assertTrue(word in text, word)
        self.assertFalse("noisy" in text)

    def test_noise_is_said(self):
        document = document_with({("w1-64", "ceil"): 5})
        document["samples"][0]["foreign"] = 0.4
        self.assertTrue("noisy" in plain_text(Results(document)))

    def test_sizes_are_those_that_were_measured(self):
        document = canned_document()
        self.assertTrue("W3 download of 1 GiB:" in plain_text(Results(document)))
        document["sizes"] = {"w3-plain": 1 << 28}
        self.assertTrue("W3 download of 256 MiB:" in plain_text(Results(document)))

    def test_a_workload_has_a_table_for_each_figure_that_decides(self):
        text = plain_text(Results(canned_document()))
        for words in ("CPU per message, µs; less", "throughput, MiB/s; more", "memory per idle connection, KiB; less"):
            self.assertTrue(f"W11 WebSockets: {words}" in text, words)
        several = {workload.name: len(workload.parts) for workload in WORKLOADS.values() if len(workload.parts) > 1}
        self.assertEqual(several, {"w11": 3, "w15": 3})

    def test_columns_without_figures_are_left_out(self):
        self.assertNotIn("÷ libcurl", plain_text(Results(document_with({("w1-64", "ceil"): 5}))))

    def test_markdown_rows_are_as_wide_as_their_heading(self):
        width = None
        for line in markdown(Results(canned_document()), lambda name: []).split("\n"):
            width = (width or line.count("|")) if line.startswith("|") else None
            self.assertEqual(line.count("|"), width or 0, line)

    def test_progress_says_what_is_left(self):
        stream = io.StringIO()
        progress = Progress(stream)
        progress.begin([("w1-64", "ceil"), ("w1-64", "async")])
        progress.step("w1-64", "ceil", {"cpu_us_req": 5.25, "foreign": 0})
        progress.step("w1-64", "async", None)
        self.assertIn("[1/2]  50 %", stream.getvalue())
        self.assertIn("5.25 µs", stream.getvalue())
        self.assertIn("[2/2] 100 %  0 s left", stream.getvalue())
        self.assertEqual(in_words(61), "1 min 01 s")


class Plots(unittest.TestCase):
    def test_each_workload_and_the_bars_have_a_plot(self):
        self.assertEqual(plots.file_names(Results(canned_document())),
                         ["peers.svg", *(f"{name}.svg" for name in WORKLOADS), "bars.svg"])

    def test_a_peer_stands_beside_ours_as_a_multiple(self):
        figures = {("w1-64", "completion"): 10, ("w1-64", "go"): 25, ("w1-64", "hyper"): 8, ("w1-64", "ceil"): 5}
        self.assertEqual([(case.name, peers) for case, peers in plots.beside_peers(Results(document_with(figures)))],
                         [("w1-64", {"go": 2.5, "hyper": 0.8})])
        more = {("w11-large", "completion"): 800, ("w11-large", "undici"): 200}
        self.assertEqual([peers for _, peers in plots.beside_peers(Results(document_with(more, "mib_s")))], [{"undici": 4}])
        self.assertEqual(CASES["w10-plain"].beside_peers, "manager")

    def test_the_best_is_first_and_what_is_ahead_of_ours_is_red(self):
        values = {"libcurl": 9, "ceil": 1, "completion": 5, "hyper": 4, "go": 3, "async": 7}
        less, more = METRICS["cpu_us_req"], METRICS["rps"]
        order = plots.in_order(values, less)
        self.assertEqual(order, ["ceil", "go", "hyper", "completion", "async", "libcurl"])
        self.assertEqual(plots.in_order(values, more), order[::-1])
        self.assertEqual([plots.colour(client, values, less) for client in order],
                         [plots.LIMIT, plots.AHEAD, plots.AHEAD, plots.OURS, plots.OURS, plots.OTHERS])
        self.assertEqual(plots.colour("libcurl", values, more), plots.AHEAD)
        self.assertEqual(plots.colour("libcurl", {"libcurl": 9, "ceil": 1}, less), plots.OTHERS)

    def test_a_slow_client_does_not_press_the_others_flat(self):
        self.assertLess(plots.axis_end({"ceil": 1, "completion": 2, "foundation": 1000}), 7)
        self.assertGreater(plots.axis_end({"ceil": 1, "completion": 4, "foundation": 20}), 20)
        self.assertGreater(plots.axis_end({"ceil": 1, "foundation": 20}), 20)


class Files(unittest.TestCase):
    def test_what_is_saved_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "deep" / "result.json"
            save(canned_document(), path)
            self.assertEqual(load(path), json.loads(json.dumps(canned_document())))

    def test_other_files_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "result.json"
            for text in ("", "[]", '{"format": 0}'):
                path.write_text(text)
                self.assertRaises(ValueError, load, path)
            self.assertRaises(ValueError, load, Path(folder) / "none.json")

    def test_the_page_keeps_what_is_outside_its_markers(self):
        page = f"before\n{publishing.BEGIN}\noutdated\n{publishing.END}\nafter\n"
        results = Results(canned_document())
        once = publishing.page_with(page, publishing.generated(results))
        self.assertTrue(once.startswith("before\n") and once.endswith("\nafter\n"))
        self.assertFalse("outdated" in once)
        self.assertTrue("(w1.svg)" in once)
        self.assertEqual(publishing.page_with(once, publishing.generated(results)), once)
        self.assertRaises(ValueError, publishing.page_with, "no markers", "")

    def test_what_is_published_follows_from_its_data(self):
        stale = [str(file) for file in publishing.stale()]
        self.assertEqual(stale, [], "./dev bench --publish Docs/Benchmarks/results.json writes them again")


def run():
    suite = unittest.defaultTestLoader.loadTestsFromModule(__import__(__name__, fromlist=["*"]))
    return 0 if unittest.TextTestRunner(verbosity=0).run(suite).wasSuccessful() else 1
