package import Testing

/// Compares a machine with its table, written out: a column for each state, a row for each event, in each cell the
/// action and, behind `>`, the state that follows if it is another.
///
/// - Parameter step: Makes a machine in the state and gives it the event. Returns the action in words, and the state
///   that follows.
package func expectTable<State: CaseIterable & Equatable, Event: CaseIterable>(
    _ table: String,
    of states: State.Type,
    _ events: Event.Type,
    sourceLocation: SourceLocation = #_sourceLocation,
    step: (State, Event) -> (action: String, next: State)
) {
    let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(rows[0] == State.allCases.map { "\($0)" }, "the columns", sourceLocation: sourceLocation)
    #expect(
        rows.dropFirst().map { $0[0] } == Event.allCases.map { "\($0)" },
        "the rows",
        sourceLocation: sourceLocation
    )
    for (event, row) in zip(Event.allCases, rows.dropFirst()) {
        for (state, expected) in zip(State.allCases, row.dropFirst()) {
            let (action, next) = step(state, event)
            let cell = next == state ? action : "\(action)>\(next)"
            #expect(cell == expected, "\(event) in \(state)", sourceLocation: sourceLocation)
        }
    }
}
