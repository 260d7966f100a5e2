import CAFLinux

/// What the C library does with memory that the process gives back.
package enum FreedMemory {
    /// As large as the bodies that programs take as one value at a time.
    private static let block = 2 << 20

    /// Lets freed blocks of up to 2 MiB be used again, in place of going back to the kernel: the pages of the next body
    /// would have to be made anew, which costs more than to receive it.
    ///
    /// glibc gives what is free at the end of a heap back beyond 128 KiB, until the process frees a block that was mapped
    /// for it alone: from then on, beyond twice the size of that block (mallopt(3), `M_MMAP_THRESHOLD`). So one is freed,
    /// once. If the program or its user has chosen these limits, this changes nothing.
    package static func keep() { kept }

    private static let kept: Void = caf_free_block(block)
}
