internal import Platform

/// A file of TLS secrets in the format of NSS, with which Wireshark reads a capture (the file that `SSLKEYLOGFILE` names).
///
/// Appends, as other programs may write to the same file.
public final class KeyLog: Sendable {
    private let descriptor: Int32

    /// - Returns: nil where the file cannot be opened; `errno` says why.
    public init?(path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(self.descriptor)
    }

    /// One write, so that lines of several programs do not mix.
    func write(_ line: UnsafePointer<CChar>) {
        let count = strlen(line)
        withUnsafeTemporaryAllocation(byteCount: count + 1, alignment: 1) { buffer in
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]).copyMemory(from: UnsafeRawBufferPointer(start: line, count: count))
            buffer[count] = UInt8(ascii: "\n")
            // A log that cannot be written is no reason to fail a connection.
            _ = Platform.write(self.descriptor, buffer.baseAddress, count + 1)
        }
    }
}
