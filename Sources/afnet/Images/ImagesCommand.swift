import AFImages
import Foundation

/// `afnet images`: loads pictures, several at a time, and shows them in the order in which they were named.
@MainActor final class ImagesCommand {
    private let arguments: Arguments
    private let console: Console
    private let manager: HTTPSessionManager
    private let downloader: ImageDownloader
    private let graphics: TerminalPicture.Graphics

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        console = Console(arguments)
        let configuration = try Sessions(TrustLog()).configuration(SessionOptions(arguments))
        manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: configuration)
        let serializer = ImageResponseSerializer()
        // Whatever a server calls it: its first bytes say what it is.
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

    /// The code is that of the last picture that failed, so that a script sees that not all are there.
    func run() async -> ExitCode {
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        var code = ExitCode.done
        let loads = arguments.urls.map { Load($0, self) }
        for load in loads {
            do throws(TransferFailure) {
                try await show(load)
            } catch {
                console.report(error, isVerbose: arguments.isVerbose)
                code = error.code
            }
        }
        return code
    }

    /// A picture that is on its way.
    @MainActor private final class Load {
        let name: String
        let receipt: ImageDownloadReceipt?
        private let outcome: AsyncStream<Result<(Image, HTTPURLResponse?), TransferFailure>>

        init(_ text: String, _ command: ImagesCommand) {
            name = text
            let (stream, continuation) = AsyncStream<Result<(Image, HTTPURLResponse?), TransferFailure>>.makeStream()
            outcome = stream
            guard let url = URL(string: text, encodingInvalidCharacters: false) else {
                receipt = nil
                let advice = "are special characters percent-encoded?"
                continuation.yield(.failure(TransferFailure(.malformedURL, "not a URL: \(text) (\(advice))")))
                return
            }
            var request = command.arguments.request(for: url, command.arguments.login, form: nil, from: nil)
            if command.arguments.asksForAnything { request.setValue("image/*", forHTTPHeaderField: "Accept") }
            receipt = command.downloader.downloadImage(for: request) { _, response, image in
                continuation.yield(.success((image, response)))
            } failure: { _, response, error in
                continuation.yield(.failure(TransferFailure(image: error, response)))
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
        let line = StatusLine(load.name) { [console] in console.write($0) }
        if console.isTerminal, !console.isSilent, let task = load.receipt?.task {
            line.setAnimatingWithState(of: task)
            line.setProgressWithDownloadProgress(of: task, animated: false)
        }
        let result = await load.result
        line.stopAnimating()
        let (image, _) = try result.get()
        let format = image.format.map { "\($0) " } ?? ""
        try write(TerminalText.escaped("\(load.name): \(format)\(image.width)×\(image.height)") + "\n")
        var failure: TransferFailure?
        let view = TerminalPicture(graphics, downloader: downloader) { [self] text in
            do throws(TransferFailure) { try write(text) } catch { failure = error }
        }
        view.image = image
        if let failure { throw failure }
    }

    private func write(_ text: String) throws(TransferFailure) {
        do throws(SystemFailure) {
            try Descriptor.standardOutput.write(Data(text.utf8))
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write standard output: \(error.text)")
        }
    }
}

extension Arguments {
    /// Nobody has said what to ask for.
    fileprivate var asksForAnything: Bool {
        !fields.contains { field in
            switch field {
            case .set(let name, _), .removed(let name): name.lowercased() == "accept"
            }
        }
    }
}

extension TransferFailure {
    /// Why a picture was not loaded.
    fileprivate init(image error: any Error, _ response: HTTPURLResponse?) {
        let details = (error as NSError).userInfo
        if let cause = details[NetworkingOperationFailingDecodingErrorKey] as? ImageError {
            self.init(.notAnImage, cause.text)
        } else if let error = error as? ImageError {
            self.init(.notAnImage, error.text)
        } else if let response, !(200..<300).contains(response.statusCode) {
            self.init(.statusRefused, "the server answered \(response.statusCode)")
        } else if (error as? URLError)?.code == .dataLengthExceedsMaximum {
            self.init(.tooLarge, "the picture is larger than --max-filesize")
        } else {
            self.init(error, hasResponse: response != nil)
        }
    }
}
