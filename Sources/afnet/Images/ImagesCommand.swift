import AFImages
import Foundation

/// `afnet images`: loads images, several at a time, and shows them in the order of the command line.
@MainActor final class ImagesCommand {
    private let arguments: Arguments
    private let console: Console
    private let sessions: Sessions
    private let manager: HTTPSessionManager
    private let downloader: ImageDownloader
    private let graphics: TerminalPicture.Graphics
    private let jar: CookieKeeper
    private let plans: [Result<TransferPlan, TransferFailure>]

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        console = Console(arguments)
        let sessions = Sessions(TrustLog())
        self.sessions = sessions
        let configuration = try sessions.configuration(SessionOptions(arguments))
        jar = try CookieKeeper(arguments.cookies, cookies: sessions.cookies)
        let netrc = try arguments.netrcFile()
        plans = arguments.urls.map { text in
            Result { () throws(TransferFailure) in try TransferPlan(text, arguments: arguments, netrc: netrc) }
        }
        manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: configuration)
        Self.prepare(manager, for: plans.compactMap { try? $0.get() }, arguments: arguments)
        let serializer = ImageResponseSerializer()
        // The first bytes of an image show its format; Content-Type does not count.
        serializer.acceptableContentTypes = nil
        manager.responseSerializer = serializer
        downloader = ImageDownloader(
            sessionManager: manager,
            downloadPrioritization: .fifo,
            maximumActiveDownloads: 4,
            imageCache: nil
        )
        if let limit = arguments.maximumSize { downloader.maximumResponseSize = limit }
        let isTerminal = Descriptor.standardOutput.isTerminal
        var mode = arguments.graphics
        if mode == .auto { mode = isTerminal ? TerminalQuestion.ask() : .none }
        let size = TerminalSize(of: Descriptor.standardOutput.number)
        graphics = TerminalPicture.Graphics(mode: mode, size: size, width: arguments.width ?? size.columns)
    }

    /// Answers challenges, and keeps credentials over redirects with --location-trusted.
    private static func prepare(_ manager: HTTPSessionManager, for plans: [TransferPlan], arguments: Arguments) {
        let identities = Dictionary(
            plans.map { ($0.url, Identity($0.url, login: $0.login, arguments: arguments)) },
            uniquingKeysWith: { first, _ in first }
        )
        if identities.values.contains(where: \.mayAnswer) {
            manager.setAuthenticationChallengeHandler { _, task, challenge, _ in
                guard let identity = task.originalRequest?.url.flatMap({ identities[$0] }) else {
                    return .performDefaultHandling
                }
                let (disposition, credential) = identity.answer(to: challenge)
                if let credential { return .credential(credential) }
                return disposition == .rejectProtectionSpace ? .rejectProtectionSpace : .performDefaultHandling
            }
        }
        guard arguments.redirects.isTrusting else { return }
        manager.setTaskWillPerformHTTPRedirectionBlock { _, task, response, next in
            arguments.redirects.adjust(
                next,
                after: response.statusCode,
                to: task.currentRequest,
                madeFrom: task.originalRequest
            )
        }
    }

    /// The code is that of the last image that failed, so that a script sees that some are missing.
    func run() async throws(TransferFailure) -> ExitCode {
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        var code = ExitCode.done
        let loads = zip(arguments.urls, plans).map { Load(SecretText.withoutPassword($0), plan: $1, by: self) }
        for load in loads {
            do throws(TransferFailure) {
                try await show(load)
            } catch {
                var failure = error
                failure.message = "\(load.name): \(error.message)"
                console.report(failure, isVerbose: arguments.isVerbose)
                code = error.code
            }
        }
        await sessions.finish(besides: manager.session)
        try jar.finish()
        return code
    }

    /// An image that is being loaded.
    @MainActor private final class Load {
        let name: String
        let receipt: ImageDownloadReceipt?
        private let outcome: AsyncStream<Result<(Image, HTTPURLResponse?), TransferFailure>>

        init(_ name: String, plan given: Result<TransferPlan, TransferFailure>, by command: ImagesCommand) {
            self.name = name
            let (stream, continuation) = AsyncStream<Result<(Image, HTTPURLResponse?), TransferFailure>>.makeStream()
            outcome = stream
            let plan: TransferPlan
            do throws(TransferFailure) {
                plan = try given.get()
            } catch {
                receipt = nil
                continuation.yield(.failure(error))
                return
            }
            var request = command.arguments.request(for: plan.url, login: plan.login, form: nil, from: nil)
            if command.arguments.asksForAnything { request.setValue("image/*", forHTTPHeaderField: "Accept") }
            receipt = command.downloader.downloadImage(for: request) { _, response, image in
                continuation.yield(.success((image, response)))
            } failure: { _, response, error in
                continuation.yield(.failure(TransferFailure(image: error, response: response)))
            }
        }

        var result: Result<(Image, HTTPURLResponse?), TransferFailure> {
            get async {
                for await result in outcome { return result }
                return .failure(TransferFailure(.otherProtocolError, "the download was given up"))
            }
        }
    }

    private func show(_ load: Load) async throws(TransferFailure) {
        let line = StatusLine(name: load.name) { [console] in console.write($0) }
        if console.isTerminal, !console.isSilent, let task = load.receipt?.task {
            line.setAnimatingWithState(of: task)
            line.setProgressWithDownloadProgress(of: task, animated: false)
        }
        let result = await load.result
        line.stopAnimating()
        let (image, _) = try result.get()
        let format = image.format.map { "\($0) " } ?? ""
        try Descriptor.show(TerminalText.escaped("\(load.name): \(format)\(image.width)×\(image.height)") + "\n")
        var failure: TransferFailure?
        let view = TerminalPicture(graphics: graphics, downloader: downloader) { text in
            do throws(TransferFailure) { try Descriptor.show(text) } catch { failure = error }
        }
        view.image = image
        if let failure { throw failure }
    }

}

extension Arguments {
    /// Whether the command line leaves the field Accept alone.
    fileprivate var asksForAnything: Bool {
        !fields.contains { field in
            switch field {
            case .set(let name, _), .removed(let name): name.lowercased() == "accept"
            }
        }
    }
}

extension TransferFailure {
    /// Why an image was not loaded.
    fileprivate init(image error: any Error, response: HTTPURLResponse?) {
        let details = (error as NSError).userInfo
        if let response, !(200..<300).contains(response.statusCode) {
            self.init(.statusRefused, "the server answered \(response.statusCode)")
        } else if let cause = details[HTTPResponseSerializer.decodingErrorKey] as? ImageError {
            self.init(.notAnImage, cause.textForPeople)
        } else if let error = error as? ImageError {
            self.init(.notAnImage, error.textForPeople)
        } else if (error as? URLError)?.code == .dataLengthExceedsMaximum {
            self.init(.tooLarge, "the picture is larger than --max-filesize")
        } else {
            self.init(error, hasResponse: response != nil)
        }
    }
}

extension ImageError {
    /// The text without its last sentence, if that is for programs.
    fileprivate var textForPeople: String {
        text.components(separatedBy: ". ").filter { !FailureText.namesDeclarations($0) }.joined(separator: ". ")
    }
}

/// The line about the image that is being loaded: a spinner and a bar.
@MainActor final class StatusLine: ActivityIndicating, ProgressDisplaying {
    private static let signs = ["|", "/", "-", "\\"]
    private static let barWidth = 30
    private static let clear = "\r\u{1B}[K"

    let taskFollowing = TaskFollowing()
    let progressFollowing = ProgressFollowing()
    private let name: String
    private let write: (String) -> Void
    private var turning: Task<Void, Never>?
    private var progress: Float?
    private var turns = 0

    init(name: String, write: @escaping (String) -> Void) {
        self.name = TerminalText.escaped(name)
        self.write = write
    }

    func startAnimating() {
        guard turning == nil else { return }
        turning = Task { [weak self] in
            while !Task.isCancelled {
                guard let self else { return }
                draw()
                turns += 1
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    func stopAnimating() {
        guard let turning else { return }
        turning.cancel()
        self.turning = nil
        write(Self.clear)
    }

    func setProgress(_ progress: Float, animated: Bool) {
        self.progress = progress
    }

    private func draw() {
        write(Self.clear + Self.text(turns: turns, progress: progress, name: name))
    }

    static func text(turns: Int, progress: Float?, name: String) -> String {
        let sign = signs[turns % signs.count]
        guard let progress else { return "\(sign) \(name)" }
        let share = min(max(progress, 0), 1)
        let filled = Int(share * Float(barWidth))
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: barWidth - filled)
        return "\(sign) \(String(format: "%3d%%", Int(share * 100))) [\(bar)] \(name)"
    }
}
