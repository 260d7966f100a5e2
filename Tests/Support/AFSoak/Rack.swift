import AFBase
import AFLoop
import Foundation

/// The acts of a mixed load: each is lent to several at a time, and now and then replaced by a new one.
final class Rack: Sendable {
    /// An act that is lent.
    struct Loan: Sendable {
        let kind: Kind
        let act: Kind.Act
        fileprivate let id: Int
    }

    private struct Place {
        var act: Kind.Act
        let id: Int
        var users = 0
        /// It is replaced when it has been lent so often.
        var usesLeft: Int
    }

    private struct State {
        var places: [String: Place] = [:]
        /// Replaced, and in use still.
        var former: [Int: Place] = [:]
        var nextID = 0
        var replaced = 0
    }

    private let stage: Stage
    private let state = Lock(State())

    init(_ stage: Stage) {
        self.stage = stage
    }

    /// How many acts were replaced: their sessions ended.
    var replaced: Int { state.withLock { $0.replaced } }

    /// Nil if as many use it as may.
    func borrow(_ kind: Kind) throws -> Loan? {
        let found = state.withLock { state -> Loan?? in
            guard var place = state.places[kind.name] else { return .none }
            guard kind.width > 1 || place.users == 0 else { return .some(nil) }
            place.users += 1
            place.usesLeft -= 1
            if place.usesLeft > 0 {
                state.places[kind.name] = place
            } else {
                state.places[kind.name] = nil
                state.former[place.id] = place
                state.replaced += 1
            }
            return Loan(kind: kind, act: place.act, id: place.id)
        }
        if let found { return found }
        let made = try kind.prepare(stage)
        let isKept = state.withLock { state in
            guard state.places[kind.name] == nil else { return false }
            state.nextID += 1
            state.places[kind.name] = Place(act: made, id: state.nextID, usesLeft: .random(in: 20...400))
            return true
        }
        if !isKept { Task { try await made.end() } }
        return try borrow(kind)
    }

    func giveBack(_ loan: Loan) async throws {
        let over = state.withLock { state -> Kind.Act? in
            if state.places[loan.kind.name]?.id == loan.id {
                state.places[loan.kind.name]?.users -= 1
                return nil
            }
            state.former[loan.id]?.users -= 1
            guard let place = state.former[loan.id], place.users == 0 else { return nil }
            state.former[loan.id] = nil
            return place.act
        }
        try await over?.end()
    }

    func end() async throws {
        let places = state.withLock { state in
            let places = Array(state.places.values) + Array(state.former.values)
            (state.places, state.former) = ([:], [:])
            return places
        }
        for place in places { try await place.act.end() }
    }
}
