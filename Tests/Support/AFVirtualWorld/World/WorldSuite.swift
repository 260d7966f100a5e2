import Testing

/// A suite whose tests have a virtual world each, which must come to its end and leave nothing.
///
/// The suite inherits from it: a value that is checked by hand at the end of a test is forgotten sooner or later.
open class WorldSuite {
    private var made: VirtualWorld?

    package init() {}

    package final var world: VirtualWorld {
        if let made { return made }
        let world = VirtualWorld()
        made = world
        return world
    }

    deinit {
        if let made { #expect(made.finish() == []) }
    }
}
