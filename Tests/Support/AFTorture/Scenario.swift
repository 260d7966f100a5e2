/// One realistic thing that a program does, during which any call may fail once.
///
/// ```swift
/// Scenario(.plain, "get") { stage in
///     let server = try stage.server { $0.route("GET", "/hello", .text("hello")) }
///     let session = stage.session(again: server.url("/again"))
///     await stage.load(server.url("/hello"), in: session, expecting: "hello")
/// }
/// ```
///
/// It is played again and again, in a process of its own: once as it is, then once for each call that can fail, so it
/// takes milliseconds and waits for no clock. Everything it needs it makes on its ``Stage``, which looks at the end
/// whether all is as it should be. Whatever goes wrong for another reason than the fault is a finding.
package struct Scenario: Sendable {
    package enum Group: String, Sendable, CaseIterable {
        case plain, tls, proxy, redirect, auth, upload, download, cache, cookies, streams, reachability, images
    }

    package let group: Group
    /// Words with hyphens between them, unique in its group.
    package let name: String
    /// How many of its steps one fault may spoil.
    package let mayFail: Int
    let play: @Sendable (Stage) async throws -> Void

    /// What it is called on the command line.
    package var id: String { "\(group.rawValue)/\(name)" }

    /// - Parameters:
    ///   - mayFail: How many steps one fault may spoil: more than one if several share what can fail.
    ///   - play: What is done. What it throws is a finding, so what may fail happens in a step of the stage.
    package init(
        _ group: Group,
        _ name: String,
        mayFail: Int = 1,
        _ play: @escaping @Sendable (Stage) async throws -> Void
    ) {
        self.group = group
        self.name = name
        self.mayFail = mayFail
        self.play = play
    }
}
