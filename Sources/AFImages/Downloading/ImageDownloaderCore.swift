import AFBase
import AFNetworking
import Dispatch
import Foundation

/// The state and the work of a downloader. Pending work holds it, so that the downloader itself can be released.
final class ImageDownloaderCore: Sendable {
    struct State: Sendable {
        var machine: ImageDownloadMachine<ImageDownloadKey, ImageWaiter>
        /// The downloads of the machine.
        var downloads: [Int: ImageDownload] = [:]
        /// Downloads whose task is being made, each with its end if the task has already ended: a session may be
        /// invalid.
        var starting: [Int: ImageTaskEnding?] = [:]
        var manager: HTTPSessionManager
        var imageCache: (any ImageRequestCache)?
        var maximumResponseSize: Int64 = 64 << 20
        var resumesDownloads = true
        /// The manager that ends with the downloader.
        var ownManager: HTTPSessionManager?
        /// Whether the downloader was released.
        var isReleased = false
    }

    /// Where ends of downloads are handled.
    private static let responseQueue = DispatchQueue(
        label: "com.alamofire.imagedownloader.responsequeue",
        attributes: .concurrent
    )

    let parts = PartialImages(memoryPressure: .system)
    private let state: Lock<State>

    init(
        manager: HTTPSessionManager,
        ownsManager: Bool,
        prioritization: ImageDownloadPrioritization,
        maximumActive: Int,
        imageCache: (any ImageRequestCache)?
    ) {
        let machine = ImageDownloadMachine<ImageDownloadKey, ImageWaiter>(
            prioritization: prioritization,
            maximumActive: max(maximumActive, 1)
        )
        let own = ownsManager ? manager : nil
        state = Lock(State(machine: machine, manager: manager, imageCache: imageCache, ownManager: own))
    }

    /// The downloader was released. Its requests are still answered.
    func release() {
        state.withLock { $0.isReleased = true }
        endSessionIfDone()
    }

    /// Invalidates the session once no download is left: tasks that wait for their turn would end with it.
    private func endSessionIfDone() {
        let manager = state.withLock { state -> HTTPSessionManager? in
            guard state.isReleased, state.machine.isEmpty else { return nil }
            defer { state.ownManager = nil }
            return state.ownManager
        }
        manager?.invalidateSessionCancelingTasks(false, resetSession: false)
    }

    subscript<Value: Sendable>(setting: WritableKeyPath<State, Value>) -> Value {
        get { state.withLock { $0[keyPath: setting] } }
        set { state.set(setting, newValue) }
    }

    subscript<Value>(value: KeyPath<State, Value>) -> Value { state.withLock { $0[keyPath: value] } }

    // MARK: - Asking

    func download(
        _ request: URLRequest,
        receiptID: UUID,
        answer: @escaping @Sendable (Result<DownloadedImage, ImageDownloadFailure>) -> Void
    ) -> ImageDownloadReceipt? {
        let manager = self[\.manager]
        guard let key = ImageDownloadKey(request: request, by: manager) else {
            answer(.failure(.withoutURL(request)))
            return nil
        }
        let waiter = ImageWaiter(answer: answer)
        if let receipt = state.withLock({ $0.join(key, waiter: waiter, receiptID: receiptID) }) { return receipt }
        if request.mayComeFromMemory, let image = image(for: request, key: key) {
            answer(.success(DownloadedImage(image: image, request: request, response: nil)))
            return nil
        }
        return begin(key, request: request, waiter: waiter, receiptID: receiptID, by: manager)
    }

    /// The image in memory that a request would get, from a server judged as its server would be now.
    func imageInMemory(for request: URLRequest) -> Image? {
        ImageDownloadKey(request: request, by: self[\.manager]).flatMap { image(for: request, key: $0) }
    }

    private func image(for request: URLRequest, key: ImageDownloadKey) -> Image? {
        guard key.isRepeatable else { return nil }
        return self[\.imageCache]?.image(for: request, withAdditionalIdentifier: key.identifier)
    }

    private func begin(
        _ key: ImageDownloadKey,
        request: URLRequest,
        waiter: ImageWaiter,
        receiptID: UUID,
        by manager: HTTPSessionManager
    ) -> ImageDownloadReceipt? {
        let (number, cache) = state.withLock { state in
            let number = state.machine.nextNumber()
            state.starting.updateValue(nil, forKey: number)
            return (number, state.imageCache)
        }
        // Without the lock: the manager or the cache may be the program's code.
        let mayGoOn = self[\.resumesDownloads] && request.mayComeFromNetwork
        let part = mayGoOn ? parts.take(key) : nil
        let attempt = attempt(number, key: key, request: request, manager: manager, goingOnWith: part)
        let download = ImageDownload(key: key, request: request, manager: manager, cache: cache, attempt: attempt)
        let (receipt, ending) = state.withLock { state in
            let ending = state.starting.removeValue(forKey: number) ?? nil
            // Another caller may have begun it meanwhile.
            if let receipt = state.join(key, waiter: waiter, receiptID: receiptID) {
                return (receipt, ImageTaskEnding?.none)
            }
            let place = state.machine.begin(number, key: key, waiter: waiter)
            state.downloads[number] = download
            return (ImageDownloadReceipt(receiptID: receiptID, download: download, place: place), ending)
        }
        // Another caller was first: cancel this task, which the manager holds until it has ended.
        if receipt.download !== download { attempt.task.cancel() }
        if let ending { ended(number, ending: ending) }
        startNext()
        return receipt
    }

    private func attempt(
        _ number: Int,
        key: ImageDownloadKey,
        request: URLRequest,
        manager: HTTPSessionManager,
        goingOnWith part: PartialImage?
    ) -> ImageDownload.Attempt {
        let (limit, resumes) = state.withLock { ($0.maximumResponseSize, $0.resumesDownloads) }
        let delegate = ImageTaskDelegate(
            manager: manager,
            request: request,
            goingOnWith: part,
            limit: limit,
            judgement: key.judgement
        ) { [parts] part, task in
            // A part of a picture is for the same user as the whole.
            if resumes, key.holds(for: task) { parts.keep(part, for: key) }
        }
        let task = manager.completing(on: ImageDownloaderCore.responseQueue) {
            manager.dataTask(
                with: part?.request(forRestOf: request) ?? request,
                uploadProgress: nil,
                downloadProgress: nil
            ) { [self] response, object, error in
                ended(number, ending: ImageTaskEnding(response: response, object: object, error: error, of: request))
            }
        }
        task.delegate = delegate
        // The first of them may come from the cache, too, without a handshake in which the session asks.
        manager.session.noteChallengesMissing(in: ImageTaskDelegate.self)
        return ImageDownload.Attempt(task: task, delegate: delegate)
    }

    func cancel(_ receipt: ImageDownloadReceipt) {
        let cancellation = state.withLock { $0.machine.cancel(receipt.place) }
        guard let cancellation else { return }
        cancellation.waiter.answer(.failure(.cancelled(receipt.download.request)))
        if cancellation.isLast { receipt.download.task.cancel() }
    }

    // MARK: - Running

    /// Starts downloads as far as the limit allows. A task that the program itself has resumed or cancelled needs no
    /// start.
    func startNext() {
        while let (number, download) = next() {
            if download.task.state == .suspended {
                download.task.resume()
            } else {
                state.withLock { $0.machine.startedElsewhere(number) }
            }
        }
    }

    private func next() -> (Int, ImageDownload)? {
        state.withLock { state in
            while let number = state.machine.next() {
                if let download = state.downloads[number] { return (number, download) }
            }
            return nil
        }
    }

    // MARK: - Ending

    private func ended(_ number: Int, ending: ImageTaskEnding) {
        let found = state.withLock { state -> (download: ImageDownload, isAwaited: Bool)? in
            if state.starting.keys.contains(number) { state.starting[number] = .some(ending) }
            return state.downloads[number].map { ($0, state.machine.isAwaited(number)) }
        }
        guard let (download, isAwaited) = found else { return }
        let (begins, mayBeStored) = (download.delegate.mustBeginAgain, download.delegate.mayBeStored)
        if isAwaited, begins || mayBeStored {
            var request = download.request
            // The cache answers no request for the rest.
            if mayBeStored { request.cachePolicy = .returnCacheDataDontLoad }
            let attempt = attempt(
                number,
                key: download.key,
                request: request,
                manager: download.manager,
                goingOnWith: nil
            )
            download.begin(again: attempt, after: mayBeStored ? ending : nil)
            // If the last waiter has cancelled meanwhile, it has cancelled the former task.
            if !state.withLock({ $0.machine.isAwaited(number) }) { download.task.cancel() }
            return
        }
        // That nothing is stored is not why the request failed.
        let told = ending.error == nil ? ending : download.formerEnding ?? ending
        let result = told.result(of: download)
        // Before the download completes: a new request must find the image in the cache, or the download.
        if isAwaited, case .success(let loaded) = result { download.keep(loaded.image) }
        let waiters = state.withLock { state in
            state.downloads[number] = nil
            return state.machine.complete(number)
        }
        for waiter in waiters { waiter.answer(result) }
        startNext()
        endSessionIfDone()
    }
}

extension ImageDownloaderCore.State {
    /// Joins the download for a key, if there is one.
    fileprivate mutating func join(
        _ key: ImageDownloadKey,
        waiter: ImageWaiter,
        receiptID: UUID
    ) -> ImageDownloadReceipt? {
        guard let place = machine.join(key, waiter: waiter), let download = downloads[place.download] else {
            return nil
        }
        return ImageDownloadReceipt(receiptID: receiptID, download: download, place: place)
    }
}

extension URLRequest {
    fileprivate var mayComeFromNetwork: Bool { cachePolicy != .returnCacheDataDontLoad }

    /// Whether a stored response may answer.
    var mayComeFromMemory: Bool {
        switch cachePolicy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: true
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData: false
        }
    }
}
