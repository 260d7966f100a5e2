/// Which of the downloads that wait is started next.
public enum ImageDownloadPrioritization: Int, Sendable {
    /// The one that waits longest.
    case fifo = 0
    /// The one that was asked for last: in a list that is scrolled, what has just come into view.
    case lifo = 1
}
