@testable import AFURLSession

@Suite struct OptionalMethodsTests {
    private final class One {}
    private final class Other {}

    @Test func `each class lacks what was noted of it, in whatever order they are asked about`() {
        var methods = OptionalMethods()
        func lacks(_ object: AnyObject) -> [OptionalMethod] {
            [.sentBody, .closedWebSocket].filter { methods.isMissing($0, in: object) }
        }
        #expect(lacks(One()) == [])
        let news = [methods.noteMissing(.sentBody, in: One.self), methods.noteMissing(.sentBody, in: One.self)]
        #expect(news == [true, false])
        #expect(lacks(One()) == [.sentBody] && lacks(Other()) == [])
        // The class that was asked about last.
        methods.noteMissing(.closedWebSocket, in: Other.self)
        #expect(lacks(Other()) == [.closedWebSocket] && lacks(One()) == [.sentBody])
    }
}
