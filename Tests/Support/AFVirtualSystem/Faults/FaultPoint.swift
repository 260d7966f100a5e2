/// The places where a virtual world can be unkind. Each has a name, by which a run says how often it was met.
///
/// All of them are below the seams by which production code enters a world: none is in production code.
package enum FaultPoint: Int, CaseIterable, Sendable {
    // MARK: Dialling
    case dialRefused
    case dialRefusedLate
    case dialUnreachable
    case dialTimedOut
    case dialUnanswered
    case dialFailsAtOnce
    case dialWithoutPort
    case dialWithoutDescriptor
    case dialUnwatched
    case dialSlow
    case dialVerySlow
    case dialThenReset
    case dialThenEnd

    // MARK: Reading and writing
    case readWouldBlock
    case readShort
    case readOneByte
    case readReset
    case readTimedOut
    case readUnreachable
    case readEndsEarly
    case writeWouldBlock
    case writeWithoutBuffers
    case writeShort
    case writeOneByte
    case writeReset
    case writeBrokenPipe
    case writeTimedOut

    // MARK: On the way
    case segmentSplit
    case segmentLate
    case segmentVeryLate
    case resetBeforeAnswer
    case resetInRequest
    case resetInHead
    case resetInBody
    case resetWhenIdle
    case endBeforeAnswer
    case endInHead
    case endInBody
    case endWhenIdle
    case linkHalfOpen
    case linkDeaf
    case linkMute
    case linkPause
    case linkPartition

    // MARK: Readiness
    case readyHeldBack
    case readyReordered
    case readySpurious
    case readyNothing

    // MARK: Names
    case nameUnknown
    case nameUnavailable
    case nameOverloaded
    case nameWithoutAddress
    case nameSlow
    case nameVerySlow
    case nameReordered
    case nameDeadAddress
    case nameRepeated

    // MARK: Time
    case timerLate
    case timerVeryLate
    case processStopped
    case wallForward
    case wallBackward
    case wallFarFuture
    case wallReset

    // MARK: Callbacks
    case queueSlow
    case queueVerySlow
    case queueBusy
    case queueOutOfTurn
    case callbackCancels
    case callbackSuspends
    case callbackEndsSession
    case callbackResetsSession
    case delegateLate
    case delegateSilent
    case delegateRefuses
    case stepCancel
    case stepCancelTwice
    case stepSuspend
    case stepResume
    case stepPriority
    case stepResetSession
    case stepFinishSession
    case stepEndSession
    case stepConnect

    // MARK: The disk
    case diskOpenFails
    case diskOpenDenied
    case diskWithoutDescriptor
    case diskOpenFull
    case diskFolderFails
    case diskStatusFails
    case diskReadFails
    case diskReadShort
    case diskReadEmpty
    case diskWriteFails
    case diskWriteFull
    case diskWriteShort
    case diskLinkFails
    case diskRenameFails
    case diskRemoveFails
    case diskSyncFails
    case diskCloseFails
    case diskInterrupted
    case diskWithoutRandom
    case diskSlow
    case diskPowerCut
    case diskLostWrites
    case diskTornWrite
    case diskLostName

    // MARK: TLS
    case tlsResetInHandshake
    case tlsEndInHandshake
    case tlsStallInHandshake
    case tlsSlowFlight
    case tlsGarbage
    case tlsFlippedHandshake
    case tlsFlippedData
    case tlsWithoutCloseNotify
    case tlsCloseNotifyOnly
    case tlsKeyUpdate
    case tlsWrongName
    case tlsStranger
    case tlsExpired

    // MARK: Proxies
    case proxySpeaksFirst
    case proxyRefuses
    case proxyStalls
    case proxyGarbage
    case proxyEndsInAnswer
    case proxyResetsTunnel
    case proxySlow
}

extension FaultPoint {
    /// As it stands in reports: `dialRefusedLate` is `dial.refused-late`.
    package var name: String {
        var name = ""
        var isFirst = true
        for letter in "\(self)" {
            if letter.isUppercase {
                name += isFirst ? "." : "-"
                isFirst = false
            }
            name += letter.lowercased()
        }
        return name
    }

    /// Whatever waits a little longer than it might, and goes on: no task may fail by it.
    package var isKind: Bool {
        switch self {
        case .dialSlow, .readWouldBlock, .readShort, .readOneByte, .writeWouldBlock, .writeWithoutBuffers: true
        case .writeShort, .writeOneByte, .segmentSplit, .segmentLate, .linkPause: true
        case .readyHeldBack, .readyReordered, .readySpurious, .readyNothing: true
        case .nameSlow, .nameReordered, .nameDeadAddress, .nameRepeated, .timerLate: true
        case .queueSlow, .queueBusy, .queueOutOfTurn, .delegateLate: true
        case .wallForward, .wallBackward, .wallFarFuture, .wallReset: true
        case .diskReadShort, .diskWriteShort, .diskInterrupted, .diskSlow: true
        case .tlsSlowFlight, .tlsKeyUpdate, .proxySlow: true
        default: false
        }
    }

    /// How often it strikes where it is armed, in a thousand times that it could.
    var rate: Int {
        switch self {
        case .dialSlow, .nameSlow, .nameReordered, .nameDeadAddress, .nameRepeated: 400
        case .readWouldBlock, .readShort, .writeWouldBlock, .writeShort, .segmentSplit: 200
        case .readOneByte, .writeOneByte, .writeWithoutBuffers, .segmentLate: 50
        case .readyHeldBack, .readySpurious, .readyNothing, .timerLate: 100
        case .queueSlow, .queueBusy, .queueOutOfTurn, .diskSlow, .diskInterrupted: 100
        case .diskWriteShort, .diskReadShort: 200
        case .readReset, .readTimedOut, .readUnreachable, .readEndsEarly: 30
        case .writeReset, .writeBrokenPipe, .writeTimedOut, .segmentVeryLate: 20
        case .resetInRequest: 200
        case .linkPause: 50
        case .timerVeryLate, .processStopped: 30
        case .queueVerySlow: 10
        case .wallForward, .wallBackward, .wallFarFuture, .wallReset: 40
        case .callbackCancels, .callbackSuspends: 30
        case .callbackEndsSession, .callbackResetsSession: 10
        case .delegateSilent: 200
        case .diskOpenFails, .diskOpenDenied, .diskWithoutDescriptor, .diskOpenFull: 60
        case .diskStatusFails, .diskWriteFails, .diskWriteFull: 100
        case .diskReadFails, .diskReadEmpty, .diskRemoveFails: 300
        case .tlsResetInHandshake, .tlsEndInHandshake, .tlsStallInHandshake, .tlsSlowFlight, .tlsGarbage: 300
        case .tlsFlippedHandshake, .tlsFlippedData, .tlsCloseNotifyOnly: 150
        case .tlsWithoutCloseNotify: 500
        case .proxySpeaksFirst, .proxyRefuses, .proxyStalls, .proxyGarbage, .proxyEndsInAnswer, .proxyResetsTunnel,
            .proxySlow:
            300
        default: 100
        }
    }
}
