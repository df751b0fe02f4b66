internal import Platform
internal import TapeBytes
internal import TapeTLS
internal import TapeTrust

/// The mounts that replace the system's roots for a program in a mount namespace of its own, and its network if it is isolated.
///
/// Passed on the command line of this program, which enters the namespace and then becomes the program to run. Does not mount anything.
struct NamespacePlan: Hashable {
    /// A root, with the name by which OpenSSL looks it up in a folder.
    struct Root: Hashable {
        /// Eight hex digits of the subject's hash, as `openssl x509 -hash` prints them.
        var hash: String
        var path: String
    }

    /// A network namespace in which every address is this machine.
    struct Isolation: Hashable {
        /// The descriptor of the socket that hands the namespace's sockets out; nil if the plan is only tried.
        var socket: Int32?
        /// The proxy's port, which is the same inside; 0 picks one.
        var port: UInt16
        /// Loopback ports that lead to the proxy if no server inside listens on them.
        var reach: [UInt16]
    }

    /// The first word of the command line; not a command, and not in the help.
    static let word = "__enter-namespace"

    /// Mounted over each of the files.
    var bundle: String
    /// An empty folder of ours, used as a temporary mount point.
    var holder: String
    var files: [String]
    /// Folders in which libraries look up roots by hash.
    var folders: [String]
    /// Roots to add to each of the folders.
    var roots: [Root]
    /// Mounted over each of `javaFiles`; nil without any.
    var javaStore: String?
    /// The roots of JVMs.
    var javaFiles: [String] = []
    /// Nil to share this machine's network.
    var isolation: Isolation?

    /// Whether there is nothing to do.
    var isEmpty: Bool { self.files.isEmpty && self.folders.isEmpty && self.isolation == nil }

    init(bundle: String, holder: String, files: [String], folders: [String], roots: [Root], isolation: Isolation? = nil) {
        self.isolation = isolation
        self.bundle = bundle
        self.holder = holder
        self.files = files
        self.folders = folders
        self.roots = roots
    }

    /// - Parameter command: the program to run; if empty, only tries the plan.
    func arguments(for command: [String]) -> [String] {
        [Self.word, self.bundle, self.holder] + self.files.map { "file=\($0)" } + self.folders.map { "folder=\($0)" }
            + self.roots.map { "root=\($0.hash)=\($0.path)" }
            + (self.javaStore.map { ["java=\($0)"] } ?? []) + self.javaFiles.map { "cacerts=\($0)" } + (self.isolation?.words ?? []) + [
                "--"
            ] + command
    }

    /// Parses the output of `arguments`, up to the `--`; nil for anything else.
    init?(arguments: some Collection<String>) {
        var words = Array(arguments.prefix { $0 != "--" })
        guard words.count >= 3, words.count < arguments.count, words.removeFirst() == Self.word else { return nil }
        self.init(bundle: words.removeFirst(), holder: words.removeFirst(), files: [], folders: [], roots: [])
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            switch parts[0] {
            case "file": self.files.append(String(parts[1]))
            case "folder": self.folders.append(String(parts[1]))
            case "java": self.javaStore = String(parts[1])
            case "cacerts": self.javaFiles.append(String(parts[1]))
            case "root":
                let root = parts[1].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard root.count == 2 else { return nil }
                self.roots.append(Root(hash: String(root[0]), path: String(root[1])))
            case "isolation":
                guard let isolation = Isolation(word: parts[1]) else { return nil }
                self.isolation = isolation
            default: return nil
            }
        }
    }

    // MARK: This system

    /// The plan for this system; puts the files that it needs into `folder`.
    ///
    /// - Parameter authority: the recorder's certificate as PEM, with the chain to a root.
    static func prepare(
        _ trust: ChildTrust, authority: [UInt8], folder: TrustFolder, files: [String] = SystemRoots.files(),
        folders: [String] = SystemRoots.folders(), javaFiles: [String] = SystemRoots.files(places: SystemRoots.javaPlaces)
    ) throws(TrustError) -> NamespacePlan {
        try self.prepare(
            bundle: trust.bundle, authority: authority, folder: folder, files: files, folders: folders, javaFiles: javaFiles)
    }

    private static func prepare(
        bundle: String, authority: [UInt8], folder: TrustFolder, files: [String], folders: [String], javaFiles: [String]
    ) throws(TrustError) -> NamespacePlan {
        var plan = NamespacePlan(
            bundle: bundle, holder: try self.holder(in: folder), files: files, folders: folders,
            roots: try self.roots(of: authority, in: folder))
        guard !javaFiles.isEmpty else { return plan }
        plan.javaStore = try self.javaStore(of: bundle, over: javaFiles, in: folder)
        plan.javaFiles = javaFiles
        return plan
    }

    /// The same for the clients of a session whose variables name this bundle: what it has besides the system's roots is its authority.
    ///
    /// - Parameter system: the system's roots.
    static func prepare(
        sessionBundle bundle: String, folder: TrustFolder, files: [String] = SystemRoots.files(), folders: [String] = SystemRoots.folders(),
        javaFiles: [String] = SystemRoots.files(places: SystemRoots.javaPlaces), system: () -> [UInt8] = NamespaceChoice.systemRoots
    ) throws(TrustError) -> NamespacePlan {
        var (all, known) = (PEMCertificates(), PEMCertificates())
        all.add(try WholeFile.read(bundle))
        known.add(system())
        let others = Set(known.contents)
        let authority = zip(all.texts, all.contents).filter { !others.contains($0.1) }.flatMap(\.0)
        return try self.prepare(
            bundle: bundle, authority: authority, folder: folder, files: files, folders: folders, javaFiles: javaFiles)
    }

    /// The roots of a bundle as a file that any JVM reads, whatever its options, with those that the files have which it covers.
    private static func javaStore(of bundle: String, over files: [String], in folder: TrustFolder) throws(TrustError) -> String {
        let text = try WholeFile.read(bundle)
        let store: [UInt8]
        do throws(CertificateError) {
            store = try JavaKeyStore.file(
                certificatesPEM: text, password: ChildTrust.javaPassword, others: files.compactMap { try? WholeFile.read($0) })
        } catch {
            throw TrustError("there is no file of roots for Java programs: \(error.message)")
        }
        // Its last bytes are a digest of the others.
        return try folder.file("cacerts-\(Hex.encode(store.suffix(6)))") { () throws(TrustError) in store }
    }

    /// Creates the empty folder on which things are mounted for a moment.
    static func holder(in folder: TrustFolder) throws(TrustError) -> String {
        let holder = folder.file("holder")
        guard folder.exists(), mkdir(holder, 0o700) == 0 || errno == EEXIST else {
            throw TrustError("cannot create the folder \"\(holder)\" (\(String(cString: strerror(errno)))): name another with --ca-dir.")
        }
        return holder
    }

    private static func roots(of authority: [UInt8], in folder: TrustFolder) throws(TrustError) -> [Root] {
        var certificates = PEMCertificates()
        certificates.add(authority)
        var roots: [Root] = []
        for pem in certificates.texts {
            let (hash, fingerprint) = try self.names(of: pem)
            roots.append(Root(hash: hash, path: try folder.file("root-\(fingerprint).pem") { () throws(TrustError) in pem }))
        }
        return roots
    }

    private static func names(of pem: [UInt8]) throws(TrustError) -> (hash: String, fingerprint: String) {
        do throws(CertificateError) {
            let certificate = try Certificate(pem: pem)
            return (certificate.subjectHash, Hex.encode(certificate.summary.fingerprint.prefix(8)))
        } catch {
            throw TrustError("the authority's certificate cannot be read: \(error.message)")
        }
    }
}

extension NamespacePlan.Isolation {
    /// Socket, port and reached ports, with commas between them.
    fileprivate var words: [String] {
        let numbers = [self.socket.map { String($0) } ?? "", String(self.port)] + self.reach.map { String($0) }
        return ["isolation=" + numbers.joined(separator: ",")]
    }

    fileprivate init?(word: some StringProtocol) {
        let parts = word.split(separator: ",", omittingEmptySubsequences: false)
        let reach = parts.dropFirst(2).map { UInt16($0) }
        guard parts.count >= 2, let port = UInt16(parts[1]), !reach.contains(nil) else { return nil }
        let socket = Int32(parts[0])
        guard socket != nil || parts[0].isEmpty else { return nil }
        self.init(socket: socket, port: port, reach: reach.compactMap(\.self))
    }
}
