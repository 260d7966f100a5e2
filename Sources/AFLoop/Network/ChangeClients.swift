/// Those who want to hear of changes, in order of arrival.
package struct ChangeClients {
    private var clients: [Int: any ChangeMonitorClient] = [:]
    private var lastTicket = 0

    package init() {}

    package var isEmpty: Bool { clients.isEmpty }

    package mutating func add(_ client: any ChangeMonitorClient) -> Int {
        lastTicket += 1
        clients[lastTicket] = client
        return lastTicket
    }

    package mutating func remove(_ ticket: Int) {
        clients[ticket] = nil
    }

    /// Those who leave while others are told are not told any more.
    package var tickets: [Int] { clients.keys.sorted() }
    package subscript(_ ticket: Int) -> (any ChangeMonitorClient)? { clients[ticket] }
}
