/// Views without a toolkit, which record what they show.
@MainActor final class PictureView: ImageDisplaying {
    let imageLoading = ImageLoading()
    var image: Image? { didSet { shown.append(image?.width) } }
    /// The widths of all that was shown.
    private(set) var shown: [Int?] = []

    init(_ downloader: ImageDownloader) {
        imageLoading.imageDownloader = downloader
    }
}

@MainActor final class Button: ButtonImageDisplaying {
    let buttonImageLoading = ButtonImageLoading()
    private(set) var images: [ControlState: Image] = [:]
    private(set) var backgrounds: [ControlState: Image] = [:]

    init(_ downloader: ImageDownloader) {
        buttonImageLoading.imageDownloader = downloader
    }

    func setImage(_ image: Image?, for state: ControlState) {
        images[state] = image
    }

    func setBackgroundImage(_ image: Image?, for state: ControlState) {
        backgrounds[state] = image
    }
}

@MainActor final class Spinner: ActivityIndicating, Refreshing {
    let taskFollowing = TaskFollowing()
    private(set) var calls: [String] = []
    /// Without those that say the same once more.
    var changes: [String] {
        calls.reduce(into: []) { changes, call in if changes.last != call { changes.append(call) } }
    }

    func startAnimating() { calls.append("start") }
    func stopAnimating() { calls.append("stop") }
    func beginRefreshing() { calls.append("begin") }
    func endRefreshing() { calls.append("end") }
}

@MainActor final class Bar: ProgressDisplaying {
    struct Step: Equatable {
        let progress: Float
        let isAnimated: Bool
    }

    let progressFollowing = ProgressFollowing()
    private(set) var steps: [Step] = []

    func setProgress(_ progress: Float, animated: Bool) {
        steps.append(Step(progress: progress, isAnimated: animated))
    }
}
