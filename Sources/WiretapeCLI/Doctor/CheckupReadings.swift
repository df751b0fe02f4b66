internal import ClientCapabilities
internal import Platform
internal import TapeProxy
internal import TapeTLS
internal import TapeTrust

/// The readings of a machine, not assessed yet.
struct CheckupReadings {
    enum Authority: Hashable {
        case missing
        case unreadable(String)
        /// - Parameter until: seconds since 1970.
        case present(until: Int64, warning: String?)
    }

    /// A variable that names a file of roots.
    struct Bundle: Hashable {
        var variable: String
        var path: String
        /// Nil if it cannot be read.
        var hasAuthority: Bool?
    }

    var facts: PlatformFacts
    /// Why a mount namespace is not available; nil if it is, or if the system has none.
    var obstacle: NamespaceAdvice?
    /// Why a program cannot be isolated; nil if it can, or if the system has no namespaces.
    var isolationObstacle: NamespaceAdvice?
    var authorityFile: String
    var authority: Authority
    var systemBundles: [String]
    var bundles: [Bundle]
    /// The proxy variables and the exceptions to them.
    var variables: [String: String]
    /// Whether something listens at the proxy address in the variables, for addresses of this machine.
    var proxyListens: Bool?
    /// Seconds since 1970.
    var now: Int64

    static func take(_ options: AuthorityOptions, environment: [String: String] = ChildEnvironment.parent) throws(TrustError)
        -> CheckupReadings
    {
        let file = try options.certificateFile()
        let (authority, pem) = Self.authority(file, isOwn: options.caCert == nil)
        let roots = NamespaceChoice.systemRoots()
        var facts = PlatformFacts()
        // A partial installation of the compiler can wait forever.
        facts.swift = ProgramOutput.text(of: "swift", ["swift", "--version"], seconds: 10).flatMap {
            $0.status == 0 ? SwiftRelease(Self.release(String(decoding: $0.output, as: UTF8.self))) : nil
        }
        facts.trustsAuthority = pem.isEmpty || roots.isEmpty ? nil : PEMCertificates.contains(roots, pem)
        var obstacle: NamespaceAdvice?
        var isolationObstacle: NamespaceAdvice?
        #if os(Linux)
        facts.libcurl = CurlReading.facts()
        obstacle = Self.namespaceObstacle()
        isolationObstacle = Self.isolationObstacle()
        facts.permitsNamespace = obstacle == nil
        #endif
        return CheckupReadings(
            facts: facts, obstacle: obstacle, isolationObstacle: isolationObstacle, authorityFile: file, authority: authority,
            systemBundles: SystemRoots.files(),
            bundles: Self.bundles(environment, pem),
            variables: environment.filter {
                (ChildEnvironment.proxyNames + ["no_proxy", "NO_PROXY"]).contains($0.key) && !$0.value.isEmpty
            },
            proxyListens: Self.proxy(environment).flatMap { LocalPort.isOpen($0) }, now: Int64(time(nil)))
    }

    /// The word after "Swift version"; the driver's own version may come first.
    static func release(_ text: String) -> Substring {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard let index = words.firstIndex(of: "Swift"), index + 2 < words.count, words[index + 1] == "version" else { return text[...] }
        return words[index + 2]
    }

    private static func authority(_ file: String, isOwn: Bool) -> (Authority, pem: [UInt8]) {
        guard access(file, F_OK) == 0 else { return (.missing, []) }
        do throws(TrustError) {
            let certificate = try AuthorityCertificate(file: file)
            let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
            let warning = isOwn ? AuthorityFiles(folder: folder).warning : nil
            return (.present(until: certificate.summary.notAfter, warning: warning), certificate.chain)
        } catch {
            return (.unreadable(error.message), [])
        }
    }

    private static func bundles(_ environment: [String: String], _ authority: [UInt8]) -> [Bundle] {
        (ChildTrust.names + ChildTrust.namesIfSet).compactMap { name in
            guard let path = environment[name], !path.isEmpty else { return nil }
            let text = try? WholeFile.read(path)
            return Bundle(variable: name, path: path, hasAuthority: text.map { PEMCertificates.contains($0, authority) })
        }
    }

    /// The proxy address in the variables, if it is on this machine; nil for any other.
    private static func proxy(_ environment: [String: String]) -> ListenAddress? {
        guard let url = ChildEnvironment.proxyNames.lazy.compactMap({ environment[$0] }).first(where: { !$0.isEmpty }) else { return nil }
        let authority = url.hasPrefix("http://") ? url.dropFirst(7) : url[...]
        return authority.prefix { $0 != "/" }.split(separator: "@").last.flatMap { ListenAddress(argument: String($0)) }
    }

    #if os(Linux)
    /// Sets up an isolated network that ends at once.
    private static func isolationObstacle() -> NamespaceAdvice? {
        guard let folder = try? RunFolder(environment: ChildEnvironment.parent) else { return nil }
        defer { folder.remove() }
        var plan = NamespacePlan(bundle: "", holder: folder.path, files: [], folders: [], roots: [])
        plan.isolation = NamespacePlan.Isolation(socket: nil, port: 0, reach: [])
        return NamespaceChoice.obstacle(plan)
    }

    /// Mounts the system's own bundle over itself, in a namespace that ends at once.
    private static func namespaceObstacle() -> NamespaceAdvice? {
        let files = SystemRoots.files()
        guard let folder = try? RunFolder(environment: ChildEnvironment.parent) else { return nil }
        defer { folder.remove() }
        let plan = NamespacePlan(bundle: files.first ?? "", holder: folder.path, files: files, folders: SystemRoots.folders(), roots: [])
        return NamespaceChoice.obstacle(plan)
    }
    #endif
}

/// Whether something listens on a port of this machine. Sends nothing.
enum LocalPort {
    /// - Returns: nil if the address is neither an IPv4 loopback address nor `localhost`: others are not tried.
    static func isOpen(_ address: ListenAddress) -> Bool? {
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        var socketAddress = sockaddr_in()
        guard host.hasPrefix("127."), inet_pton(AF_INET, host, &socketAddress.sin_addr) == 1 else { return nil }
        socketAddress.sin_family = sa_family_t(AF_INET)
        socketAddress.sin_port = in_port_t(truncatingIfNeeded: address.port).bigEndian
        let descriptor = socket(AF_INET, streamSocket, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafePointer(to: &socketAddress) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
