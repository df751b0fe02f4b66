internal import Platform
internal import TapeTLS
internal import TapeTrust

/// Where a run keeps the authority's files and the files made from them: the permanent folder, or a temporary one if that cannot be
/// written, as on build machines.
///
/// Does not create an authority.
struct AuthorityPlace: Hashable {
    /// The folder of Wiretape's own authority.
    let folder: String
    /// The folder for files that are made from the authority's certificate.
    let trustFolder: String
    /// A notice that the authority ends with the run, and why.
    let notice: String?
    /// Has to be removed after the run.
    let temporary: RunFolder?

    private init(folder: String, trust: String, notice: String?, temporary: RunFolder?) {
        self.folder = folder
        self.trustFolder = "\(trust)/trust"
        self.notice = notice
        self.temporary = temporary
    }

    /// The folder that the user named. It is never replaced.
    init(folder: String) {
        self.init(folder: folder, trust: folder, notice: nil, temporary: nil)
    }

    /// The standard folder if it can be written.
    ///
    /// - Parameter needsAuthority: false if the certificate comes from elsewhere.
    init(environment: [String: String], needsAuthority: Bool) throws(TrustError) {
        if let named = environment["WIRETAPE_CA_DIR"], !named.isEmpty {
            self.init(folder: AuthorityLocation.absolute(named))
            return
        }
        guard let folder = AuthorityLocation.standard(environment: environment) else {
            self.init(temporary: try RunFolder(environment: environment), "the authority cannot be stored (there is no home folder)")
            return
        }
        guard let problem = Self.problem(folder, environment) else {
            self.init(folder: folder)
            return
        }
        let temporary = try RunFolder(environment: environment)
        if needsAuthority, !Self.hasAuthority(folder) {
            self.init(temporary: temporary, "the authority cannot be stored in \"\(folder)\" (\(problem))")
        } else {
            // The lost files can be made again at any time, so there is no notice.
            self.init(folder: folder, trust: temporary.path, notice: nil, temporary: temporary)
        }
    }

    private init(temporary: RunFolder, _ reason: String) {
        self.init(
            folder: temporary.path, trust: temporary.path, notice: "\(reason): this run uses a temporary one.", temporary: temporary)
    }

    /// Whether at least one of the files exists: a problem with the other has to be reported.
    private static func hasAuthority(_ folder: String) -> Bool {
        let files = AuthorityFiles(folder: folder)
        return access(files.certificatePath, F_OK) == 0 || access(files.keyPath, F_OK) == 0
    }

    /// Why the folder, which may have to be created first, cannot be written; nil if it can.
    private static func problem(_ folder: String, _ environment: [String: String]) -> String? {
        var home = AuthorityLocation.home(environment: environment) ?? ""
        while home.count > 1, home.hasSuffix("/") { home.removeLast() }
        var path = "\(folder)/trust"
        var status = stat()
        while stat(path, &status) != 0 {
            let number = errno
            guard number == ENOENT || number == ENOTDIR, path != "/" else { return String(cString: strerror(number)) }
            // Service accounts have a home that intentionally does not exist, so it is not created.
            if path == home, number == ENOENT { return "there is no \"\(home)\"" }
            path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            if path.isEmpty { path = "/" }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return String(cString: strerror(ENOTDIR)) }
        return access(path, W_OK | X_OK) == 0 ? nil : String(cString: strerror(errno))
    }
}

/// A folder for one run, among the system's temporary files and for its owner only.
///
/// Stays until `remove` is called. A run that is killed leaves its folder behind.
struct RunFolder: Hashable {
    let path: String

    init(environment: [String: String]) throws(TrustError) {
        let place = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : AuthorityLocation.absolute($0) } ?? "/tmp"
        var name = Array("\(place)/wiretape-XXXXXX".utf8CString)
        // Created with mode 0700, whatever the umask.
        guard let path = mkdtemp(&name) else {
            throw TrustError(
                "cannot create a folder for this run in \"\(place)\" (\(String(cString: strerror(errno)))): set TMPDIR to a writable folder, or name one with --ca-dir."
            )
        }
        self.path = String(cString: path)
    }

    /// Removes the folder with its contents. Anything that cannot be removed stays.
    ///
    /// - Parameter attempts: made 50 ms apart, for a folder that is still written into.
    /// - Returns: whether the folder is gone.
    @discardableResult func remove(attempts: Int = 1, pause: () -> Void = { usleep(50_000) }) -> Bool {
        for attempt in 1...attempts {
            if attempt > 1 { pause() }
            Self.remove(self.path)
            if access(self.path, F_OK) != 0 { return true }
        }
        return false
    }

    private static func remove(_ path: String) {
        // Never follows a link into another folder.
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
