public import CassetteModel

/// What has to reach the disk, taken out of a store or an appender so that another thread can wait for it.
///
/// A recorder whose thread waited for a slow disk would fall behind its traffic.
public struct PendingSync: Sendable {
    /// Open files: a cassette, a raw spool.
    let files: [SharedFile]
    /// Names of sidecars that count as unsynced again where this fails.
    let names: Set<String>
    private let folder: BodyStore.FolderBox?
    private let disk: DiskCalls

    init(files: [SharedFile], names: Set<String> = [], in folder: BodyStore.FolderBox? = nil, disk: DiskCalls = .system) {
        self.files = files
        self.names = names
        self.folder = folder
        self.disk = disk
    }

    /// Waits for the disk; stops at the first error.
    public func run() throws(CassetteError) {
        for shared in self.files { try shared.file.synchronize() }
        guard let folder, !self.names.isEmpty else { return }
        for name in self.names {
            do {
                try OpenFile(name, in: folder.folder, for: .read, disk: self.disk).synchronize()
            } catch  where error.code == .notFound {
                continue
            }
        }
        try folder.folder.synchronize()
    }
}
