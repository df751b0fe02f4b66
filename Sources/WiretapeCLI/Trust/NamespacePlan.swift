internal import Platform
internal import TapeBytes
internal import TapeTLS
internal import TapeTrust

/// The mounts that replace the system's roots for a program in a mount namespace of its own.
///
/// Passed on the command line of this program, which enters the namespace and then becomes the program to run. Does not mount anything.
struct NamespacePlan: Hashable {
    /// A root, with the name by which OpenSSL looks it up in a folder.
    struct Root: Hashable {
        /// Eight hex digits of the subject's hash, as `openssl x509 -hash` prints them.
        var hash: String
        var path: String
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

    init(bundle: String, holder: String, files: [String], folders: [String], roots: [Root]) {
        self.bundle = bundle
        self.holder = holder
        self.files = files
        self.folders = folders
        self.roots = roots
    }

    /// - Parameter command: the program to run; if empty, only tries the plan.
    func arguments(for command: [String]) -> [String] {
        [Self.word, self.bundle, self.holder] + self.files.map { "file=\($0)" } + self.folders.map { "folder=\($0)" }
            + self.roots.map { "root=\($0.hash)=\($0.path)" } + ["--"] + command
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
            case "root":
                let root = parts[1].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard root.count == 2 else { return nil }
                self.roots.append(Root(hash: String(root[0]), path: String(root[1])))
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
        folders: [String] = SystemRoots.folders()
    ) throws(TrustError) -> NamespacePlan {
        let holder = folder.file("holder")
        guard mkdir(holder, 0o700) == 0 || errno == EEXIST else {
            throw TrustError("cannot create the folder \"\(holder)\" (\(String(cString: strerror(errno)))): name another with --ca-dir.")
        }
        return NamespacePlan(
            bundle: trust.bundle, holder: holder, files: files, folders: folders, roots: try self.roots(of: authority, in: folder))
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
