import AFRequest
import AFWire

@testable import AFURLSession

struct RequestDraftTests {
    private static func adding(_ value: String) -> (WireRequest) -> WireRequest {
        { request in request.changing { $0.fields.append("Cookie", value: Array(value.utf8)) } }
    }

    private func cookies(_ draft: RequestDraft) throws -> [String] { try draft.wire.get().values("Cookie") }

    @Test func `the fields of the steps are added once, and anew when they may have changed`() throws {
        var draft = RequestDraft(.ready(try freeze("http://a.test/")))
        #expect(!draft.hasFields)

        draft.add(Self.adding("a=1"))
        draft.add(Self.adding("b=1"))
        #expect(try draft.hasFields && cookies(draft) == ["a=1"])

        draft.dropFields()
        #expect(try !draft.hasFields && cookies(draft) == [])
        draft.add(Self.adding("a=2"))
        #expect(try draft.hasFields && cookies(draft) == ["a=2"])
    }

    @Test func `a request that cannot be sent gets no fields`() {
        var draft = RequestDraft(.refused(RequestRejection(.url, rule: .missing)))
        draft.add(Self.adding("a=1"))
        draft.dropFields()
        #expect(!draft.hasFields)
        #expect(throws: RequestRejection.self) { try draft.wire.get() }
    }
}
