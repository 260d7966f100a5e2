extension TestServer {
    /// The connection a script is played on.
    public enum ScriptTarget: Sendable, Hashable {
        /// The next accepted connection that has no script yet; several such scripts are used in order.
        case next
        /// The connection with this number; the first one the server accepts is 1.
        case connection(Int)
        /// Every connection without a script of its own.
        case every
    }

    /// Plays steps on the next connection instead of serving HTTP on it.
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
    /// After the last step the connection is closed in order, unless the step says otherwise.
    public func script(_ steps: ScriptStep...) {
        script(on: .next, steps: steps)
    }

    /// Plays steps on a chosen connection instead of serving HTTP on it.
    public func script(on target: ScriptTarget, _ steps: ScriptStep...) {
        script(on: target, steps: steps)
    }

    /// Plays steps on a chosen connection, for steps that were made by a loop.
    public func script(on target: ScriptTarget = .next, steps: [ScriptStep]) {
        core.lock.change { state in
            switch target {
            case .next: state.nextScripts.append(steps)
            case .connection(let number): state.numberedScripts[number] = steps
            case .every: state.scriptForEvery = steps
            }
        }
    }

    /// Lets go whatever waits for this name: `ScriptStep.pause(until:)` and `ServerReply.held(until:)`.
    ///
    /// A signal stays given: whoever asks for it later does not wait.
    public func signal(_ name: String) {
        core.signal(name)
    }
}
