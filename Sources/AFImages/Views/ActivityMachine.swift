import Foundation

/// Decides when a sign of network activity is shown: not for what is over in a moment, and without flickering.
///
/// ```
///                   activity             activation timer
///   notActive ─────────────▶ delayingStart ─────────────▶ active
///       ▲                         │ none left by then        │  ▲
///       │◀────────────────────────┘                  no more │  │ activity
///       │             completion timer                       ▼  │
///       └──────────────────────────────────────────── delayingEnd
/// ```
struct ActivityMachine: Sendable {
    enum Phase: Sendable { case notActive, delayingStart, active, delayingEnd }

    enum Event: Sendable {
        /// There is, or is not, activity now; perhaps as before.
        case activity(Bool)
        /// The timer of the phase has fired.
        case timer(isActive: Bool)
        case disabled
    }

    enum Action: Sendable {
        case none
        case startActivationTimer
        case startCompletionTimer
        case cancelTimer
        case show
        case hide
        case cancelTimerAndHide
    }

    private(set) var phase = Phase.notActive

    mutating func handle(_ event: Event) -> Action {
        switch (phase, event) {
        case (.notActive, .activity(true)):
            phase = .delayingStart
            return .startActivationTimer
        case (.delayingStart, .timer(isActive: true)):
            phase = .active
            return .show
        case (.delayingStart, .timer(isActive: false)):
            phase = .notActive
            return .none
        case (.active, .activity(false)):
            phase = .delayingEnd
            return .startCompletionTimer
        case (.delayingEnd, .activity(true)):
            phase = .active
            return .cancelTimer
        case (.delayingEnd, .timer):
            phase = .notActive
            return .hide
        case (.delayingStart, .disabled):
            phase = .notActive
            return .cancelTimer
        case (.active, .disabled), (.delayingEnd, .disabled):
            phase = .notActive
            return .cancelTimerAndHide
        case (.notActive, .activity(false)), (.notActive, .disabled),
            (.delayingStart, .activity),  // decided when the timer fires
            (.active, .activity(true)),
            (.delayingEnd, .activity(false)),
            (.notActive, .timer), (.active, .timer):  // cancelled, and on its way all the same
            return .none
        }
    }
}
