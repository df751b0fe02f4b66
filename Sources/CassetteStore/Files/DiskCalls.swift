internal import Platform

/// The system calls that move bytes between memory and disk, and the one that removes a file, as values, so that a test can make each of
/// them fail, or look at what is so while it is made.
///
/// A result is what the call returned, or the negated `errno`.
package struct DiskCalls: Sendable {
    package var read: @Sendable (_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, _ offset: Int) -> Int
    package var write: @Sendable (_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int
    package var truncate: @Sendable (_ descriptor: Int32, _ size: Int) -> Int
    package var synchronize: @Sendable (_ descriptor: Int32) -> Int
    /// A file by its name in an open folder.
    package var remove: @Sendable (_ folder: Int32, _ name: String) -> Int

    package static let system = DiskCalls(
        read: { descriptor, bytes, offset in
            let count = pread(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            return count < 0 ? -Int(errno) : count
        },
        write: { descriptor, bytes, offset in
            let count = pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(offset))
            return count < 0 ? -Int(errno) : count
        },
        truncate: { descriptor, size in
            ftruncate(descriptor, off_t(size)) < 0 ? -Int(errno) : 0
        },
        synchronize: { descriptor in
            #if canImport(Darwin)
            // fsync alone leaves the data in the drive's cache there.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return 0 }
            return fsync(descriptor) < 0 ? -Int(errno) : 0
            #else
            return fdatasync(descriptor) < 0 ? -Int(errno) : 0
            #endif
        },
        remove: { folder, name in
            unlinkat(folder, name, 0) < 0 ? -Int(errno) : 0
        })
}
