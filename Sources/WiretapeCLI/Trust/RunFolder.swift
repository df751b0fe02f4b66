internal import Platform
internal import TapeTrust

/// A folder for one run, among the system's temporary files and for its owner alone.
///
/// Stays until `remove` is called: a run that is killed leaves it behind.
struct RunFolder: Hashable {
    let path: String

    init(environment: [String: String]) throws(TrustError) {
        let place = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : AuthorityLocation.absolute($0) } ?? "/tmp"
        var name = Array("\(place)/wiretape-XXXXXX".utf8CString)
        // Made with mode 0700, whatever the mask says.
        guard let path = mkdtemp(&name) else {
            throw TrustError(
                "cannot make a folder for this run in \"\(place)\" (\(String(cString: strerror(errno)))): set TMPDIR to one that can be written, or give another with --ca-dir."
            )
        }
        self.path = String(cString: path)
    }

    /// Takes it away with all that is in it; what cannot be removed is left.
    func remove() { Self.remove(self.path) }

    private static func remove(_ path: String) {
        // Never through a link into somebody else's folder.
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, let stream = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(stream) {
            // SAFETY: readdir's name ends with a NUL and is valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            if name != ".", name != ".." { self.remove("\(path)/\(name)") }
        }
        closedir(stream)
        rmdir(path)
    }
}
