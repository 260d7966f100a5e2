// The names AFNetworking has on Apple's platforms, so that ported code compiles.

public import AFNetworking
public import Foundation

// MARK: - Responses

/// ``ImageResponseSerializer`` under its old name.
public typealias AFImageResponseSerializer = ImageResponseSerializer

// MARK: - Caches and downloads

/// ``ImageCache`` under its old name.
public typealias AFImageCache = ImageCache

/// ``ImageRequestCache`` under its old name.
public typealias AFImageRequestCache = ImageRequestCache

/// ``AutoPurgingImageCache`` under its old name.
public typealias AFAutoPurgingImageCache = AutoPurgingImageCache

/// ``ImageDownloader`` under its old name.
public typealias AFImageDownloader = ImageDownloader

/// ``ImageDownloadReceipt`` under its old name.
public typealias AFImageDownloadReceipt = ImageDownloadReceipt

/// ``ImageDownloadPrioritization`` under its old name.
public typealias AFImageDownloadPrioritization = ImageDownloadPrioritization

extension ImageDownloadPrioritization {
    /// ``fifo`` under its old name.
    public static let FIFO = ImageDownloadPrioritization.fifo
    /// ``lifo`` under its old name.
    public static let LIFO = ImageDownloadPrioritization.lifo
}

// MARK: - Views

/// ``NetworkActivityIndicatorManager`` under its old name.
public typealias AFNetworkActivityIndicatorManager = NetworkActivityIndicatorManager

extension NetworkActivityIndicatorManager {
    /// The manager itself, so that ``shared`` can be written as a call, too.
    public func callAsFunction() -> NetworkActivityIndicatorManager { self }
}

extension ImageDisplaying {
    /// ``setImage(with:placeholderImage:)`` without a placeholder, under its old name.
    public func setImageWith(_ url: URL) {
        setImage(with: url)
    }

    /// ``setImage(with:placeholderImage:)`` under its old name.
    public func setImageWith(_ url: URL, placeholderImage: Image?) {
        setImage(with: url, placeholderImage: placeholderImage)
    }

    /// ``setImage(with:placeholderImage:success:failure:)`` under its old name.
    @preconcurrency
    public func setImageWith(
        _ urlRequest: URLRequest,
        placeholderImage: Image?,
        success: ImageDownloader.Success?,
        failure: ImageDownloader.Failure?
    ) {
        setImage(with: urlRequest, placeholderImage: placeholderImage, success: success, failure: failure)
    }

    /// ``sharedImageDownloader`` of the class, set as in Objective-C.
    public static func setSharedImageDownloader(_ imageDownloader: ImageDownloader) {
        sharedImageDownloader = imageDownloader
    }

    /// The cache of images of ``sharedImageDownloader``, as AFNetworking 2 has it.
    public static func sharedImageCache() -> (any ImageRequestCache)? { sharedImageDownloader.imageCache }

    /// Sets the cache of images of ``sharedImageDownloader``; nil is a new one of the standard kind.
    public static func setSharedImageCache(_ imageCache: (any ImageRequestCache)?) {
        sharedImageDownloader.imageCache = imageCache ?? AutoPurgingImageCache()
    }

    /// ``cancelImageDownloadTask()`` under the name of AFNetworking 2.
    public func cancelImageRequestOperation() {
        cancelImageDownloadTask()
    }
}

extension ActivityIndicating {
    /// `setAnimatingWithState(of:)` under its old name.
    public func setAnimatingWithStateOf(_ task: URLSessionTask?) {
        setAnimatingWithState(of: task)
    }
}

extension Refreshing {
    /// `setRefreshingWithState(of:)` under its old name.
    public func setRefreshingWithStateOf(_ task: URLSessionTask?) {
        setRefreshingWithState(of: task)
    }
}

extension ProgressDisplaying {
    /// `setProgressWithUploadProgress(of:animated:)` under its old name.
    public func setProgressWithUploadProgressOf(_ task: URLSessionUploadTask, animated: Bool) {
        setProgressWithUploadProgress(of: task, animated: animated)
    }

    /// `setProgressWithDownloadProgress(of:animated:)` under its old name.
    public func setProgressWithDownloadProgressOf(_ task: URLSessionDownloadTask, animated: Bool) {
        setProgressWithDownloadProgress(of: task, animated: animated)
    }
}
