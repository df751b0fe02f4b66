internal import Platform

/// The folder beside an authority that holds what was made from it: files whose names tell what they were made from.
///
/// A file is made when it is missing and never changed. One that nobody has asked for in a month is removed when another is made;
/// sooner, a program that still runs could lose it.
struct TrustFolder {
    let path: String
    private static let day: time_t = 24 * 3600
    private static let lifetime: time_t = 30 * day

    func file(_ name: String) -> String { "\(self.path)/\(name)" }

    /// The path of a file of that name, which is made where it is missing.
    ///
    /// - Returns: nil where `make` has nothing to give.
    func file(
        _ name: String, mode: mode_t = 0o644, now: time_t = time(nil), make: () throws(TrustError) -> [UInt8]
    ) throws(TrustError) -> String {
        let path = self.file(name)
        var status = stat()
        if stat(path, &status) == 0, status.st_size > 0 {
            if now - Self.modified(status) > Self.day { utimes(path, nil) }
            return path
        }
        let bytes = try make()
        guard Self.create(self.path) else {
            throw TrustError("cannot make the folder \"\(self.path)\" (\(String(cString: strerror(errno)))): give another with --ca-dir.")
        }
        self.removeOld(now)
        try WholeFile.replace(path, with: bytes, mode: mode)
        return path
    }

    /// With what is above it: where a certificate was given, no authority has made that.
    private static func create(_ path: String) -> Bool {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
        return self.create(String(path[..<slash])) && (mkdir(path, 0o700) == 0 || errno == EEXIST)
    }

    private func removeOld(_ now: time_t) {
        guard let stream = opendir(self.path) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // SAFETY: readdir's name ends with a NUL and is valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            guard ["bundle-", "java-", "wgetrc-", "root-"].contains(where: name.hasPrefix) else { continue }
            var status = stat()
            if lstat(self.file(name), &status) == 0, now - Self.modified(status) > Self.lifetime { unlink(self.file(name)) }
        }
    }

    private static func modified(_ status: stat) -> time_t {
        #if canImport(Darwin)
        status.st_mtimespec.tv_sec
        #else
        status.st_mtim.tv_sec
        #endif
    }
}
