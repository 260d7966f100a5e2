import AFNetworking

/// The state of a button that loads images.
@MainActor public final class ButtonImageLoading {
    enum Kind: Hashable { case image, background }

    private struct Place: Hashable {
        let kind: Kind
        let state: ControlState
    }

    /// The downloader of all buttons whose class has none: ``ImageDownloader/shared``, unless set.
    public static var sharedImageDownloader: ImageDownloader = .shared
    static var ofClasses: [ObjectIdentifier: ImageDownloader] = [:]

    private var slots: [Place: ImageSlot] = [:]

    /// The downloader of this button; nil, as it is at first, for ``ButtonImageDisplaying/sharedImageDownloader`` of its
    /// class.
    public var imageDownloader: ImageDownloader?

    /// For a new button.
    public nonisolated init() {}

    func slot(_ kind: Kind, state: ControlState) -> ImageSlot {
        let known: Set<ControlState> = [.normal, .highlighted, .selected, .disabled]
        let place = Place(kind: kind, state: known.contains(state) ? state : .normal)
        if let slot = slots[place] { return slot }
        let slot = ImageSlot()
        slots[place] = slot
        return slot
    }
}
