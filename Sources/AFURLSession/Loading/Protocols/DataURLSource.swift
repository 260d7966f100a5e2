import AFLoop
import AFWire
import Foundation

/// Loads a `data:` URL. A worker decodes it, since it may be long.
final class DataURLSource: LoadSource {
    private var events: [LoadEvent] = []
    private var isStopped = false

    init(url: URL, isHead: Bool, limit: Int, for load: ForeignLoad, in world: World) {
        let loop = world.loop
        let source = LoopBound(confined: self, on: loop)
        let load = LoopBound(confined: load, on: loop)
        world.workers.sharedWorker().run {
            let events = DataURLSource.events(of: url, isHead: isHead, limit: limit)
            loop.enqueue { source.value.arrived(events, load: load.value) }
        }
    }

    private func arrived(_ events: [LoadEvent], load: ForeignLoad) {
        guard !isStopped else { return }
        self.events = events
        load.goOnSoon()
    }

    func take() -> [LoadEvent] {
        defer { events = [] }
        return events
    }

    func stop() {
        isStopped = true
        events = []
    }

    private static func events(of url: URL, isHead: Bool, limit: Int) -> [LoadEvent] {
        do throws(DataURL.Flaw) {
            let content = try decode(url, limit: limit)
            let response = URLResponse(
                url: url,
                mimeType: content.mimeType,
                expectedContentLength: isHead ? 0 : content.body.count,
                textEncodingName: content.charset
            )
            let body: [LoadEvent] = isHead || content.body.isEmpty ? [] : [.data(Data(content.body))]
            return [.response(response, .notAllowed)] + body + [.finished]
        } catch {
            return [.failed(.local(.data(error)))]
        }
    }

    private static func decode(_ url: URL, limit: Int) throws(DataURL.Flaw) -> DataURL {
        try url.absoluteString.withUTF8Bytes { bytes throws(DataURL.Flaw) in
            try DataURL(bytes, limit: limit)
        }
    }
}
