internal import CBench
internal import Foundation

extension Arguments {
    /// Does what the arguments ask for and prints the line of JSON.
    package func measure(_ client: any Client, named name: String) {
        allow_many_descriptors()
        if isIdle { rest(client, name) } else { time(client, name) }
    }

    private func time(_ client: any Client, _ name: String) {
        if warm > 0 { load(url, warm, with: client) }
        let tally = Tally(total: total)
        var statistics = statistics_t()
        statistics_begin(&statistics)
        load(url, tally, with: client)
        tally.fill(&statistics)
        statistics_report(&statistics, name)
    }

    private func rest(_ client: any Client, _ name: String) {
        load(quickURL, 1, with: client)
        let before = at_rest()
        load(url, concurrency, with: client)
        let first = at_rest()
        load(url, concurrency, with: client)
        report_rest(name, before, first, at_rest())
    }

    private func load(_ url: URL, _ count: Int, with client: any Client) {
        load(url, Tally(total: count), with: client)
    }

    private func load(_ url: URL, _ tally: Tally, with client: any Client) {
        client.load(url, inFlight: min(concurrency, tally.total), tally)
        tally.wait()
    }
}
