/// Decides what a download does next. The consumer tells it what happens, and does what it says.
///
/// ```
/// new ── begin ──▶ asking ── whole ──▶ gathering ── enough, waited ──▶ writing ── tooMuch ──▶ behind
/// gathering ── tooMuch ──▶ behind
/// writing, behind ── written, diskFailed ──▶ gathering
/// gathering, writing, behind ── again ──▶ asking
///
/// new ── look ──▶ looking ── found ──▶ askingRest ── whole, other, rest ──▶ gathering
/// looking ── missing ──▶ asking
/// askingRest ── unusable ──▶ asking
/// askingRest ── complete ──▶ skipping
///
/// gathering, writing, behind, skipping ── end ──▶ flushing ── flushed ──▶ naming ── named ──▶ done
/// flushing, naming ── cancelled ──▶ overtaken ── named ──▶ done
/// naming ── timedOut ──▶ overtaken ── diskFailed ──▶ over
///
/// all but overtaken, done, saving, over ── failed ──▶ saving ── saved, nothingToSave ──▶ over
/// all but naming, overtaken, done, saving, over ── timedOut ──▶ saving
/// all but flushing, naming, overtaken, done, saving, over ── cancelled ──▶ saving
/// looking, askingRest ── spoilt ──▶ saving
/// all but over ── completed ──▶ over
/// ```
///
/// A load fails in five ways: they say what the bytes that have arrived are worth after it, and to whom.
struct DownloadMachine {
    enum State: UInt8, CaseIterable {
        /// The session has not begun.
        case new
        /// The worker looks for the part that an earlier download has left.
        case looking
        /// The request for the whole is on its way.
        case asking
        /// The request for the rest of the part is on its way.
        case askingRest
        /// The body arrives, and nothing is being written.
        case gathering
        /// The body arrives, and a write is under way.
        case writing
        /// A write is under way, and as much waits behind it as may: the peer has to wait for the disk.
        case behind
        /// The part is the whole file. The body that arrives is none of it.
        case skipping
        /// The body has arrived in full, and its last bytes are being written.
        case flushing
        /// All bytes are written, and the file gets its name.
        case naming
        /// The task has ended after the whole body had arrived: the file is made all the same, and the task ends with it.
        case overtaken
        /// The file is complete.
        case done
        /// The download has failed, and the worker saves what has arrived.
        case saving
        case over
    }

    enum Event: UInt8, CaseIterable {
        // MARK: The request

        /// There is no part: the session asks for the whole.
        case begin
        /// There is a part to look for.
        case look
        /// The part is there.
        case found
        /// The part is not there, or is not as it was.
        case missing

        // MARK: The response

        /// The body is the file, from its first byte on.
        case whole
        /// The body is the file, and says nothing about the part.
        case other
        /// The body is the rest of the part.
        case rest
        /// No byte of the part is missing.
        case complete
        /// The part is of no use.
        case unusable

        // MARK: The body

        /// Bytes of the body are there.
        case bytes
        /// With them, less than a write of full size is gathered.
        case little
        /// A write of full size is gathered.
        case enough
        /// As much waits for the disk as may.
        case tooMuch
        /// What is gathered has waited long enough.
        case waited
        /// The body is not the rest that the response has announced.
        case broken
        case end

        // MARK: The disk

        /// The write is done.
        case written
        /// No bytes are left to write.
        case flushed
        /// The file has its name, or needs none.
        case named
        /// The disk has not written, or not named the file.
        case diskFailed

        // MARK: The load

        /// The load sends the request once more.
        case again
        /// The load has failed by no fault of the bytes that have arrived.
        case failed
        /// The load has failed, and bytes that have arrived cannot be trusted.
        case spoilt
        /// The time of the task is over.
        case timedOut
        /// A caller who wants what has arrived has cancelled the task.
        case cancelled
        /// A caller who wants nothing has cancelled the task.
        case dropped
        /// Nothing of what has arrived can be resumed.
        case nothingToSave
        /// The worker has saved what it could.
        case saved
        /// The disk has had a minute.
        case overdue
        /// The task completes.
        case completed
    }

    enum Action: Equatable {
        /// Wait for what comes next.
        case wait
        /// Let the worker look for the part.
        case lookForPart
        case askForWhole
        case askForRest
        /// Remove the part, and ask for the whole.
        case askAnew
        /// Remove the part: the file begins anew.
        case dropPart
        /// Leave the part to another download: the file begins anew.
        case leavePart
        /// Let the body go behind the part.
        case append
        /// Show the response that the whole would have had.
        case showWhole
        /// Take the bytes, and say how much that makes.
        case gather
        /// Count the bytes as none of the file's.
        case skip
        /// Write what is gathered in a while, so that a slow download is seen to get on.
        case writeLater
        /// Write what makes a write of full size.
        case write
        /// The same, and let the peer wait.
        case writeAndPause
        /// Write all that is gathered.
        case writeAll
        /// Let the peer wait.
        case pause
        /// Say how much is gathered, and let the peer send if that is less than may wait.
        case goOn
        /// Fail the load: the server broke its word.
        case breakOff
        /// Write what is left, or say that nothing is.
        case flush
        /// Let the worker name the file.
        case name
        /// Show the file, and let the task complete.
        case handOver
        /// Fail the load with the error of the disk.
        case fail
        /// Forget what has arrived.
        case startOver
        /// Let the worker save what has arrived, or say that it is nothing.
        case save
        /// Go on, for a minute at most.
        case finishFile
        /// Let the task complete with its error.
        case leave
        /// Complete the task with its error and the resume data.
        case report
        /// Complete the task with its error, and without resume data.
        case giveUp
        /// Hand the file over to the receiver.
        case deliver
        /// Remove the file.
        case discard
        /// Remove the file, and the part that is perhaps saved in the end.
        case discardPart
        /// The event comes too late to matter.
        case nothing
        /// No order of events leads here: `objection` says why. The task ends with an error that names both.
        case impossible
    }

    private(set) var state = State.new

    mutating func handle(_ event: Event) -> Action {
        let (action, next) = DownloadMachine.table(state, event: event)
        state = next
        return action
    }

    /// What the download does at an event in a state, and the state that follows. The whole table.
    private static func table(_ state: State, event: Event) -> (Action, State) {
        switch state {
        case .new, .looking, .asking, .askingRest: requesting(state, event: event)
        case .gathering, .writing, .behind, .skipping: receiving(state, event: event)
        case .flushing, .naming, .overtaken, .done: finishing(state, event: event)
        case .saving: saving(event)
        case .over: over(event)
        }
    }

    private static func requesting(_ state: State, event: Event) -> (Action, State) {
        switch (state, event) {
        case (.new, .begin): (.wait, .asking)
        case (.new, .look): (.lookForPart, .looking)

        case (.looking, .found): (.askForRest, .askingRest)
        case (.looking, .missing): (.askForWhole, .asking)

        case (.asking, .whole): (.wait, .gathering)
        case (.asking, .again): (.startOver, .asking)

        case (.askingRest, .whole): (.dropPart, .gathering)
        case (.askingRest, .other): (.leavePart, .gathering)
        case (.askingRest, .rest): (.append, .gathering)
        case (.askingRest, .complete): (.showWhole, .skipping)
        case (.askingRest, .unusable): (.askAnew, .asking)

        case (_, .failed), (_, .timedOut), (_, .cancelled): (.save, .saving)
        // No byte was added to the part: it is as good as it was.
        case (.looking, .spoilt), (.askingRest, .spoilt): (.save, .saving)
        case (_, .spoilt), (_, .dropped): (.leave, state)
        case (_, .completed): (.discard, .over)
        default: (.impossible, state)
        }
    }

    private static func receiving(_ state: State, event: Event) -> (Action, State) {
        switch (state, event) {
        case (.skipping, .bytes): (.skip, .skipping)
        case (_, .bytes): (.gather, state)

        case (.gathering, .little): (.writeLater, .gathering)
        case (.gathering, .enough): (.write, .writing)
        case (.gathering, .tooMuch): (.writeAndPause, .behind)
        case (.gathering, .waited): (.writeAll, .writing)

        case (.writing, .little), (.writing, .waited), (.behind, .waited): (.writeLater, state)
        case (.writing, .enough): (.wait, .writing)
        case (.writing, .tooMuch): (.pause, .behind)

        // The peer stops after what it has sent.
        case (.behind, .tooMuch): (.wait, .behind)

        case (.writing, .written), (.behind, .written): (.goOn, .gathering)
        case (.writing, .diskFailed), (.behind, .diskFailed): (.fail, .gathering)

        case (.gathering, .end), (.skipping, .end): (.flush, .flushing)
        case (.writing, .end), (.behind, .end): (.wait, .flushing)

        case (.gathering, .broken), (.writing, .broken), (.behind, .broken): (.breakOff, state)
        case (.gathering, .again), (.writing, .again), (.behind, .again): (.startOver, .asking)

        case (_, .failed), (_, .timedOut), (_, .cancelled): (.save, .saving)
        case (_, .spoilt), (_, .dropped): (.leave, state)
        case (_, .completed): (.discard, .over)
        default: (.impossible, state)
        }
    }

    private static func finishing(_ state: State, event: Event) -> (Action, State) {
        switch (state, event) {
        case (.flushing, .written), (.overtaken, .written): (.flush, state)
        case (.flushing, .flushed): (.name, .naming)
        case (.overtaken, .flushed): (.name, .overtaken)
        case (.naming, .named), (.overtaken, .named): (.handOver, .done)
        case (.flushing, .diskFailed), (.naming, .diskFailed): (.fail, state)
        case (.overtaken, .diskFailed): (.fail, .over)
        case (.overtaken, .overdue): (.giveUp, .overtaken)

        case (.flushing, .failed), (.flushing, .timedOut), (.naming, .failed): (.save, .saving)
        // The file is as good as made.
        case (.flushing, .cancelled), (.naming, .cancelled), (.naming, .timedOut): (.finishFile, .overtaken)
        // The caller cancels once more.
        case (.overtaken, .failed), (.overtaken, .timedOut), (.overtaken, .cancelled): (.wait, .overtaken)
        case (.done, .failed), (.done, .timedOut), (.done, .cancelled): (.leave, .done)
        case (_, .spoilt), (_, .dropped): (.leave, state)

        case (.done, .completed): (.deliver, .over)
        case (_, .completed): (.discard, .over)
        default: (.impossible, state)
        }
    }

    private static func saving(_ event: Event) -> (Action, State) {
        switch event {
        case .nothingToSave: (.leave, .over)
        case .saved: (.report, .over)
        case .overdue: (.giveUp, .saving)
        // The caller who waits for resume data waits on.
        case .failed, .timedOut, .cancelled: (.wait, .saving)
        case .spoilt, .dropped: (.leave, .saving)
        case .completed: (.discardPart, .over)
        // It was under way when the download failed.
        case .found, .missing, .whole, .other, .rest, .complete, .unusable, .bytes, .broken, .end, .written, .named,
            .diskFailed:
            (.nothing, .saving)
        case .begin, .look, .little, .enough, .tooMuch, .waited, .flushed, .again: (.impossible, .saving)
        }
    }

    private static func over(_ event: Event) -> (Action, State) {
        switch event {
        case .completed: (.discard, .over)
        // Nothing is done any more that the load could wait for.
        case .failed, .spoilt, .timedOut, .cancelled, .dropped: (.leave, .over)
        default: (.nothing, .over)
        }
    }

    /// Why an event is impossible in a state.
    static func objection(to event: Event, in state: State) -> String {
        "\(event) while \(state): \(reason(event, in: state))"
    }

    private static func reason(_ event: Event, in state: State) -> String {
        switch event {
        case .begin, .look: "a download begins once"
        case .found, .missing: "no part is looked for"
        case .whole: "no response is waited for"
        case .other, .rest, .complete, .unusable: "the request is not for the rest of a part"
        case .bytes, .end: hasBody(state) ? "the body has arrived in full" : "no response has been taken"
        case .little, .enough, .tooMuch:
            state == .behind ? "more than that waits already" : "no bytes of the file are being gathered"
        case .waited: "no bytes wait to be written"
        case .broken: "no rest of a part is being received"
        case .written: "nothing is being written"
        case .flushed: hasBody(state) ? "it was said before" : "the body has not arrived in full"
        case .named: "no file is being named"
        case .diskFailed: "the disk has nothing to do"
        case .again: "what has arrived, or is asked for, is not to be had again"
        case .nothingToSave, .saved: "nothing is being saved"
        case .overdue: "the task does not wait for the disk alone"
        case .failed, .spoilt, .timedOut, .cancelled, .dropped, .completed: "it may come at any time"
        }
    }

    /// Whether the body has arrived in full.
    private static func hasBody(_ state: State) -> Bool {
        switch state {
        case .flushing, .naming, .overtaken, .done: true
        case .new, .looking, .asking, .askingRest, .gathering, .writing, .behind, .skipping, .saving, .over: false
        }
    }

    /// Whether the task must not complete yet.
    var isHolding: Bool {
        switch state {
        case .done, .saving, .over: false
        case .new, .looking, .asking, .askingRest, .gathering, .writing, .behind, .skipping, .flushing, .naming,
            .overtaken:
            true
        }
    }

    /// Whether what has arrived may be received again.
    var mayStartOver: Bool {
        switch state {
        case .asking, .gathering, .writing, .behind: true
        case .new, .looking, .askingRest, .skipping, .flushing, .naming, .overtaken, .done, .saving, .over: false
        }
    }
}
