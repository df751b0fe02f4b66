internal import CassetteModel
internal import ClientCapabilities
internal import TapeBytes

/// Assesses the readings of a machine: what works, what is worth knowing, and what was set up but does not work.
struct Checkup {
    let readings: CheckupReadings
    let report: CapabilityReport

    init(_ readings: CheckupReadings) {
        self.readings = readings
        self.report = CapabilityReport(readings.facts)
    }

    var findings: [CheckupFinding] {
        [self.swift, self.libcurl, self.namespace, self.isolation, self.authority, self.systemTrust].compactMap(\.self) + self.bundles
            + self.proxies
    }

    /// The requirements that are not met, one line each.
    func missing(_ requirements: [CheckupRequirement]) -> [String] {
        requirements.compactMap { requirement in
            let found =
                switch requirement {
                case .swift: self.swift
                case .libcurl: self.libcurl
                case .namespace: self.namespace
                case .isolation: self.isolation
                case .authority: self.authority
                case .systemTrust: self.systemTrust
                case .https: self.https
                }
            guard let found else { return "\"\(requirement.rawValue)\" is required, but this system does not have it: omit it." }
            guard found.mark != .ok else { return nil }
            return "\"\(requirement.rawValue)\" is required: \(found.text)\(found.remedy.map { ": \($0)" } ?? "")."
        }
    }

    // MARK: The machine

    private var swift: CheckupFinding? {
        guard let release = self.readings.facts.swift else {
            return CheckupFinding(
                mark: .note, name: "swift", text: "no \"swift\" in PATH reported its version; what follows assumes the worst",
                remedy: "add the toolchain's folder to PATH")
        }
        return CheckupFinding(mark: .ok, name: "swift", text: "\(release), the one in PATH")
    }

    private var libcurl: CheckupFinding? {
        guard self.readings.facts.system == .linux else { return nil }
        guard let libcurl = self.readings.facts.libcurl else {
            return CheckupFinding(
                mark: .note, name: "libcurl", text: "no libcurl.so.4 was found, without which no program with FoundationNetworking starts",
                remedy: "install the package libcurl4")
        }
        let features = [
            libcurl.hasHTTP2 ? "HTTP/2" : "no HTTP/2", libcurl.protocols.contains("ws") ? "WebSocket" : "no WebSocket",
        ]
        return CheckupFinding(mark: .ok, name: "libcurl", text: "\(libcurl.version), with \(features.joined(separator: " and "))")
    }

    private var namespace: CheckupFinding? {
        guard self.readings.facts.system == .linux else { return nil }
        guard let obstacle = self.readings.obstacle else {
            return CheckupFinding(
                mark: .ok, name: "namespace",
                text: "permitted: programs run by \"wiretape record --\" trust the authority, URLSession included")
        }
        return CheckupFinding(mark: .note, name: "namespace", text: "not permitted: \(obstacle.reason)", remedy: obstacle.remedy)
    }

    private var isolation: CheckupFinding? {
        guard self.readings.facts.system == .linux else { return nil }
        guard let obstacle = self.readings.isolationObstacle else {
            return CheckupFinding(
                mark: .ok, name: "isolation",
                text: "permitted: \"wiretape record --isolate\" also sees programs that use no proxy settings")
        }
        return CheckupFinding(mark: .note, name: "isolation", text: "not permitted: \(obstacle.reason)", remedy: obstacle.remedy)
    }

    private var https: CheckupFinding? {
        self.report[.recordHTTPS].map {
            CheckupFinding(mark: $0.state == .yes ? .ok : .note, name: "https", text: String($0.sentence.dropLast()), remedy: $0.remedy)
        }
    }

    // MARK: The authority

    private var authority: CheckupFinding? {
        let file = "\"\(self.readings.authorityFile)\""
        switch self.readings.authority {
        case .missing:
            return CheckupFinding(mark: .note, name: "authority", text: "none yet; \"wiretape record\" creates one in \(file)")
        case .unreadable(let message):
            return CheckupFinding(mark: .problem, name: "authority", text: message, remedy: "move the file away, and a new one is created")
        case .present(let until, let warning):
            let day = Timestamp(microseconds: until * 1_000_000).description.prefix(10)
            guard until > self.readings.now else {
                return CheckupFinding(
                    mark: .problem, name: "authority", text: "\(file) expired on \(day)",
                    remedy: "move it and its key away, and new ones are created")
            }
            if let warning { return CheckupFinding(mark: .problem, name: "authority", text: warning) }
            return CheckupFinding(mark: .ok, name: "authority", text: "\(file), until \(day)")
        }
    }

    private var systemTrust: CheckupFinding? {
        guard let trusts = self.readings.facts.trustsAuthority else {
            return CheckupFinding(
                mark: .note, name: "system", text: "cannot tell whether the system trusts the authority",
                remedy: "\"wiretape ca install\" makes the system trust it")
        }
        let files = self.readings.systemBundles.map { "\"\($0)\"" }.joined(separator: ", ")
        return trusts
            ? CheckupFinding(mark: .ok, name: "system", text: "the authority is among the system's roots in \(files)")
            : CheckupFinding(
                mark: .note, name: "system", text: "the authority is not among the system's roots in \(files)",
                remedy: "\"wiretape ca install\" adds it, if a namespace is not enough")
    }

    // MARK: The environment

    private var bundles: [CheckupFinding] {
        let lost = self.readings.bundles.filter { $0.hasAuthority == nil }
        let with = self.readings.bundles.filter { $0.hasAuthority == true }
        let without = self.readings.bundles.filter { $0.hasAuthority == false }
        func names(_ bundles: [CheckupReadings.Bundle]) -> String { bundles.map(\.variable).joined(separator: ", ") }
        var findings = lost.map {
            CheckupFinding(
                mark: .problem, name: $0.variable, text: "names \"\($0.path)\", which cannot be read", remedy: "correct it or unset it")
        }
        if !with.isEmpty {
            findings.append(CheckupFinding(mark: .ok, name: "roots", text: "the authority is in the files that \(names(with)) name"))
        }
        if !without.isEmpty {
            findings.append(
                CheckupFinding(
                    mark: .note, name: "roots", text: "the authority is not in the files that \(names(without)) name",
                    remedy: "run programs with \"wiretape record --\", or use the output of \"wiretape env\""))
        }
        return findings
    }

    private var proxies: [CheckupFinding] {
        let variables = self.readings.variables
        var findings: [CheckupFinding] = []
        if variables["HTTP_PROXY"] != nil, variables["http_proxy"] == nil {
            findings.append(
                CheckupFinding(
                    mark: .problem, name: "HTTP_PROXY",
                    text: "is set and http_proxy is not: libcurl, and so curl and URLSession, reads only the lower-case name",
                    remedy: "set http_proxy too"))
        }
        if let listens = self.readings.proxyListens {
            findings.append(
                listens
                    ? CheckupFinding(mark: .ok, name: "proxy", text: "a server listens at the address that the proxy variables name")
                    : CheckupFinding(
                        mark: .problem, name: "proxy", text: "nothing listens at the address that the proxy variables name",
                        remedy: "start \"wiretape record FILE --listen HOST:PORT\", or unset http_proxy and the others"))
        }
        let exceptions = ["no_proxy", "NO_PROXY"].compactMap { variables[$0] }
        if !findings.isEmpty || variables["http_proxy"] != nil, exceptions.contains(where: { ChildEnvironment.withoutLoopback($0) != $0 }) {
            findings.append(
                CheckupFinding(
                    mark: .note, name: "no_proxy", text: "has names of this machine or \"*\": requests to it bypass the proxy",
                    remedy: "remove them, as \"wiretape record --\" does"))
        }
        return findings
    }
}

/// One line of a checkup: what was checked, its state, and what to do.
struct CheckupFinding: Hashable {
    enum Mark: String, Hashable {
        case ok
        /// Normal on many machines, and good to know.
        case note
        /// Something that was set up but does not work.
        case problem
    }

    var mark: Mark
    var name: String
    /// A sentence without its full stop.
    var text: String
    var remedy: String?
}
