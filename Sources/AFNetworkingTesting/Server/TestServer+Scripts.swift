extension TestServer {
    /// The connection that a script is for.
    public enum ScriptTarget: Sendable, Hashable {
        /// The next accepted connection without a script. The server uses several such scripts in order.
        case next
        /// The connection with this number; the first one the server accepts is 1.
        case connection(Int)
        /// Every connection that has no other script.
        case every
    }

    /// Plays steps on the next connection in place of serving HTTP.
    ///
    /// ```swift
    /// server.script(
    ///     .expect("GET /data HTTP/1.1\r\n"),
    ///     .expectHead,
    ///     .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf "),
    ///     .reset
    /// )
    /// ```
    ///
    /// After the last step the server closes the connection with an end of stream, unless the step ends it otherwise.
    public func script(_ steps: ScriptStep...) {
        script(on: .next, steps: steps)
    }

    /// Plays steps on a chosen connection in place of serving HTTP.
    public func script(on target: ScriptTarget, _ steps: ScriptStep...) {
        script(on: target, steps: steps)
    }

    /// Plays an array of steps on a chosen connection.
    public func script(on target: ScriptTarget = .next, steps: [ScriptStep]) {
        core.lock.change { state in
            switch target {
            case .next: state.nextScripts.append(steps)
            case .connection(let number): state.numberedScripts[number] = steps
            case .every: state.scriptForEvery = steps
            }
        }
    }

    /// Ends all waits for this name, those of `ScriptStep.pause(until:)` and `ServerReply.held(until:)`.
    ///
    /// A signal stays set: later waits for it return at once.
    public func signal(_ name: String) {
        core.signal(name)
    }
}
