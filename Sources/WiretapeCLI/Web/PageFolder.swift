internal import CassetteModel
internal import CassetteStore
internal import Platform
internal import TapeBytes
internal import TapeInspector

/// Finds a place for files that were dropped on a page: in memory if there is room, so that their contents reach no disk.
enum PageFolder {
    /// The least free bytes of a file system in memory. Containers often have one of 64 MB.
    private static let room: UInt64 = 256 << 20

    static func make(environment: [String: String] = ChildEnvironment.parent) throws(TrustError) -> PrivateFolder {
        let folder: RunFolder
        if let memory = self.memory {
            folder = try RunFolder(environment: ["TMPDIR": memory])
        } else {
            folder = try RunFolder(environment: environment)
        }
        return PrivateFolder(path: folder.path) { folder.remove() }
    }

    /// Makes an empty cassette, for a page that was opened without one.
    static func blank(in folder: PrivateFolder?) throws(CassetteError) -> String {
        let path = "\(folder?.path ?? "")/none.json"
        _ = try CassetteAppender.create(path, recorder: "wiretape \(Version.current)")
        return path
    }

    /// A file system in memory that everybody may write, as on Linux; nil if there is none, or too little room.
    private static var memory: String? {
        #if os(Linux)
        let path = "/dev/shm"
        var status = statvfs()
        guard access(path, W_OK | X_OK) == 0, statvfs(path, &status) == 0 else { return nil }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= self.room ? path : nil
        #else
        return nil
        #endif
    }
}
