import AFLoop
import AFTransport
import AFWire
import Foundation

/// Sends the session's cookies, and takes those of responses.
final class CookieStep: LoadStep {
    /// Nil if the session sends none.
    private let sent: HTTPCookieStorage?

    init(sent: HTTPCookieStorage?) {
        self.sent = sent
    }

    /// Waits while the session still reads the public suffix list, and so does not know which cookies it may send.
    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        guard sent?.hasWaiting == true, let access = access(of: load) else { return .goOn }
        return .later(asking: nil) { reply in
            let loop = load.session.loop
            let waiting = LoopBound(confined: reply, on: loop)
            let waits = access.waitForJudgement {
                loop.enqueue(in: .all) { waiting.value { _, _ in .goOn } }
            }
            if !waits { reply { _, _ in .goOn } }
        }
    }

    func addFields(to fields: inout HTTPHeaders, of request: WireRequest, load: any LoadView, isRepeated: Bool) {
        guard !isRepeated, let sent, !sent.isEmpty, let access = access(of: load),
            let value = access.field(for: request.url, now: load.session.world.wallClock().seconds)
        else { return }
        fields.append("Cookie", value: load.presentRequest?.cookieField(value) ?? value)
    }

    func learn(from head: ResponseHead, of transfer: Transfer, for owner: any RequestOwner) {
        guard head.setsCookies, !transfer.isRefusedByProxy(head) else { return }
        let now = owner.session.world.wallClock().seconds
        access(of: owner)?.receive(head.headers, from: transfer.request.url, now: now)
    }

    private func access(of owner: any RequestOwner) -> CookieAccess? {
        owner.presentRequest.flatMap { CookieAccess(owner.session.settings.cookies, request: $0.contents.cookies) }
    }
}
