internal import Platform
internal import TapeTLS
internal import TapeTrust

/// Where one run has the authority's files and what is made from them: the folder that keeps them, or one of the run's own where that
/// cannot be written, as on machines that build and test.
///
/// Makes no authority.
struct AuthorityPlace: Hashable {
    /// Of Wiretape's own authority.
    let folder: String
    /// For what is made from the authority's certificate.
    let trustFolder: String
    /// What a person should know: that the authority ends with the run, and why.
    let notice: String?
    /// To be removed when the run has ended.
    let temporary: RunFolder?

    private init(folder: String, trust: String, notice: String?, temporary: RunFolder?) {
        self.folder = folder
        self.trustFolder = "\(trust)/trust"
        self.notice = notice
        self.temporary = temporary
    }

    /// The folder that somebody named: nothing takes its place.
    init(folder: String) {
        self.init(folder: folder, trust: folder, notice: nil, temporary: nil)
    }

    /// The standard folder where it can be written.
    ///
    /// - Parameter needsAuthority: false where the certificate comes from elsewhere.
    init(environment: [String: String], needsAuthority: Bool) throws(TrustError) {
        if let named = environment["WIRETAPE_CA_DIR"], !named.isEmpty {
            self.init(folder: AuthorityLocation.absolute(named))
            return
        }
        guard let folder = AuthorityLocation.standard(environment: environment) else {
            self.init(temporary: try RunFolder(environment: environment), "the authority cannot be kept (there is no home folder)")
            return
        }
        guard let problem = Self.problem(folder, environment) else {
            self.init(folder: folder)
            return
        }
        let temporary = try RunFolder(environment: environment)
        if needsAuthority, !Self.hasAuthority(folder) {
            self.init(temporary: temporary, "the authority cannot be kept in \"\(folder)\" (\(problem))")
        } else {
            // Only what can be made again at any time is not kept: nothing to be told.
            self.init(folder: folder, trust: temporary.path, notice: nil, temporary: temporary)
        }
    }

    private init(temporary: RunFolder, _ reason: String) {
        self.init(
            folder: temporary.path, trust: temporary.path, notice: "\(reason): this run has one of its own.", temporary: temporary)
    }

    /// One of the files is enough: what is wrong with the other has to be told.
    private static func hasAuthority(_ folder: String) -> Bool {
        let files = AuthorityFiles(folder: folder)
        return access(files.certificatePath, F_OK) == 0 || access(files.keyPath, F_OK) == 0
    }

    /// Why nothing can be written there, be it that the folder has to be made first; nil where it can.
    private static func problem(_ folder: String, _ environment: [String: String]) -> String? {
        var home = AuthorityLocation.home(environment: environment) ?? ""
        while home.count > 1, home.hasSuffix("/") { home.removeLast() }
        var path = "\(folder)/trust"
        var status = stat()
        while stat(path, &status) != 0 {
            let number = errno
            guard number == ENOENT || number == ENOTDIR, path != "/" else { return String(cString: strerror(number)) }
            // Accounts of services have a home that is not there, on purpose: it is not made.
            if path == home, number == ENOENT { return "there is no \"\(home)\"" }
            path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
            if path.isEmpty { path = "/" }
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return String(cString: strerror(ENOTDIR)) }
        return access(path, W_OK | X_OK) == 0 ? nil : String(cString: strerror(errno))
    }
}
