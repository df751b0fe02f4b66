internal import CassetteModel

/// Gives one open file to several holders; it is closed, and its lock released, with the last of them.
final class SharedFile: Sendable {
    let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    /// Opens an existing cassette and takes its lock.
    static func locked(_ path: String, disk: DiskCalls) throws(CassetteError) -> SharedFile {
        while true {
            let shared = SharedFile(try OpenFile(path, for: .update, disk: disk))
            try shared.file.lock()
            // Between opening and locking another recorder may have put a rewritten file in its place.
            if shared.file.isStill(at: path) { return shared }
        }
    }
}
