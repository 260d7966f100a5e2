import Foundation
package import Testing

/// The table of a machine, written out: a column for each state, a row for each event, in each cell the action and,
/// behind `>`, the state that follows if it is another. `-`: nothing to do. `x`: impossible.
package struct MachineTable {
    package let states: [String]
    package let events: [String]
    private let cells: [[String]]

    package init(_ text: String) {
        let rows = text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        states = rows[0]
        events = rows.dropFirst().map { $0[0] }
        cells = rows.dropFirst().map { Array($0.dropFirst()) }
    }

    package subscript<State, Event>(event: Event, state: State) -> String? {
        guard let row = events.firstIndex(of: "\(event)"), let column = states.firstIndex(of: "\(state)") else {
            return nil
        }
        return cells[row][column]
    }

    /// All possible steps to another state: state, event, next state.
    fileprivate var arrows: Set<[String]> {
        var arrows: Set<[String]> = []
        for (event, row) in zip(events, cells) {
            for (state, cell) in zip(states, row) {
                let (action, next) = (cell.prefix { $0 != ">" }, cell.drop { $0 != ">" }.dropFirst())
                if action != "x", !next.isEmpty { arrows.insert([state, event, String(next)]) }
            }
        }
        return arrows
    }

    /// What happened, as a cell says it.
    package static func cell<State: Equatable>(_ action: Any, from state: State, to next: State) -> String {
        let words = "\(action)"
        let action = ["nothing": "-", "impossible": "x"][words] ?? words
        return next == state ? action : "\(action)>\(next)"
    }
}

/// Compares a machine with its table.
///
/// - Parameters:
///   - wanted: What is expected where the table has this cell, if that depends on more than state and event.
///   - step: Makes a machine in the state and gives it the event. Returns the action, and the state that follows.
package func expectTable<State: Equatable, Event: CaseIterable>(
    _ table: String,
    of states: some Collection<State>,
    _ events: Event.Type,
    wanted: (String) -> String = { $0 },
    sourceLocation: SourceLocation = #_sourceLocation,
    step: (State, Event) -> (action: Any, next: State)
) {
    let table = MachineTable(table)
    #expect(table.states == states.map { "\($0)" }, "the columns", sourceLocation: sourceLocation)
    #expect(table.events == Event.allCases.map { "\($0)" }, "the rows", sourceLocation: sourceLocation)
    for event in Event.allCases {
        for state in states {
            let (action, next) = step(state, event)
            let expected = table[event, state].map(wanted)
            let cell = MachineTable.cell(action, from: state, to: next)
            #expect(cell == expected, "\(event) in \(state)", sourceLocation: sourceLocation)
        }
    }
}

/// Compares the drawing in the comment of a machine with its tables: it has each step to another state, and no other. A
/// line is `state, state ── event, event ──▶ state ── event ──▶ state`, or begins with `all but state, state`.
///
/// - Parameter file: The machine's, below `Sources`.
package func expectDrawing(
    in file: String,
    of tables: String...,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let root = (1...4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let source = try String(contentsOf: root.appending(path: "Sources/\(file)"), encoding: .utf8)
    let tables = tables.map { MachineTable($0) }
    let wanted = tables.reduce(into: Set()) { $0.formUnion($1.arrows) }
    let blocks = source.split(separator: "```")
    let drawing = try #require(blocks.count > 2 ? blocks[1] : nil, sourceLocation: sourceLocation)
    var arrows: Set<[String]> = []
    for line in drawing.split(separator: "\n") {
        let parts = line.split(separator: "──").map { $0.split { "/▶, ".contains($0) }.map(String.init) }
        guard var states = parts.first else { continue }
        if states.starts(with: ["all", "but"]) { states = tables.flatMap(\.states).filter { !states.contains($0) } }
        for index in stride(from: 2, to: parts.count, by: 2) {
            for state in states { for event in parts[index - 1] { arrows.insert([state, event] + parts[index]) } }
            states = parts[index]
        }
    }
    #expect(wanted.subtracting(arrows) == [], "not drawn", sourceLocation: sourceLocation)
    #expect(arrows.subtracting(wanted) == [], "not in a table", sourceLocation: sourceLocation)
}
