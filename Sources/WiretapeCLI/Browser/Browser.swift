internal import CassetteTools
internal import Platform
internal import TapeProxy
internal import TapeTrust

/// A browser of this machine, and how to start it so that its pages' traffic, and nothing else of it, passes through the proxy.
struct Browser: Hashable {
    enum Family: Hashable { case chromium, firefox }

    /// A path, or a name that is looked up in PATH.
    var program: String
    var family: Family

    /// In search order.
    private static let names = [
        "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "microsoft-edge-stable", "brave-browser",
        "firefox", "firefox-esr",
    ]
    private static let applications = ["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser", "Firefox"].map {
        "/Applications/\($0).app/Contents/MacOS/\($0.lowercased() == "firefox" ? "firefox" : $0)"
    }

    init(program: String) {
        self.program = program
        self.family = program.split(separator: "/").last?.lowercased().contains("firefox") == true ? .firefox : .chromium
    }

    /// The browser asked for, or the first one that is installed.
    static func find(_ asked: String?, environment: [String: String]) throws(TrustError) -> Browser {
        let path = environment["PATH"] ?? "/usr/bin:/bin"
        if let asked {
            guard ProgramSearch.file(asked, in: path) != nil else {
                throw TrustError("the browser \"\(asked)\" was not found: pass its path to --browser-program.")
            }
            return Browser(program: asked)
        }
        guard let found = (self.names + self.applications).first(where: { ProgramSearch.file($0, in: path) != nil }) else {
            throw TrustError(
                "no browser was found: install Chromium, Chrome, Edge or Firefox, or pass the path of one to --browser-program.")
        }
        return Browser(program: found)
    }

    /// The browser that a command starts by itself, whose profile does not trust the authority; nil if the command is not a browser.
    static func started(by command: [String]) -> Browser? {
        guard let name = command.first?.split(separator: "/").last.map(String.init) else { return nil }
        let isKnown = self.names.contains(name) || self.applications.contains { $0.hasSuffix("/\(name)") }
        return isKnown ? Browser(program: command[0]) : nil
    }

    /// The advice for a run that starts a browser with the user's own profile.
    func advice(for file: String) -> String {
        let words = (["wiretape record", ShellWord.quoted(file), "--browser --browser-program", ShellWord.quoted(self.program)])
        return
            "\"\(self.program)\" trusts only authorities of its own store, so its HTTPS will be refused: \"\(words.joined(separator: " ")) URL\" starts it with a profile that trusts wiretape's; arguments go after \"--\"."
    }
}

/// A browser with a profile of its own for one run.
struct BrowserLaunch {
    var browser: Browser
    /// `HOST:PORT`.
    var proxy: String
    /// An empty folder for this run.
    var profile: String
    var authority: AuthorityCertificate
    /// SHA-256 of the public key of the certificates that the browser will be shown.
    var leafKey: [UInt8]
    /// Opened first; nil for an empty page.
    var url: String?
    /// The user's own arguments, which come last.
    var arguments: [String]

    /// Writes the profile.
    ///
    /// - Returns: the command line.
    func prepare(isRoot: Bool = geteuid() == 0) throws(TrustError) -> [String] {
        switch self.browser.family {
        case .chromium: return [self.browser.program] + self.chromiumArguments(isRoot: isRoot)
        case .firefox:
            try self.makeFirefoxProfile()
            return [self.browser.program, "--profile", self.profile, "--no-remote", "--new-instance"] + self.arguments
                + [self.url].compactMap { $0 }
        }
    }

    // MARK: Chromium

    /// Chromium accepts the key of a certificate in the chain as proof, if a profile is named as well.
    private func chromiumArguments(isRoot: Bool) -> [String] {
        var arguments = [
            "--user-data-dir=\(self.profile)", "--proxy-server=http://\(self.proxy)",
            // Chromium otherwise connects to loopback directly.
            "--proxy-bypass-list=<-loopback>;\(Self.makersHosts.joined(separator: ";"))",
            "--host-resolver-rules=\(Self.makersHosts.map { "MAP \($0) ~NOTFOUND" }.joined(separator: ","))",
            "--ignore-certificate-errors-spki-list=\(self.keyPin)", "--disable-quic",
            "--no-first-run", "--test-type", "--no-default-browser-check", "--disable-default-apps", "--disable-extensions",
            // Without these, it asks its vendor for components, models, lists, updates and experiments.
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-domain-reliability",
            "--disable-client-side-phishing-detection", "--disable-breakpad", "--disable-field-trial-config", "--metrics-recording-only",
            "--no-pings", "--gaia-url=https://\(Self.noAccounts)", "--no-service-autorun", "--safebrowsing-disable-auto-update",
            "--password-store=basic", "--use-mock-keychain",
            "--disable-features=\(Self.chromiumFeatures.joined(separator: ","))",
        ]
        // Its sandbox does not start for root.
        if isRoot { arguments.append("--no-sandbox") }
        return arguments + self.arguments + [self.url ?? "about:blank"]
    }

    /// The key in the form in which Chromium names keys (RFC 7469, 2.4).
    private var keyPin: String {
        PublicKeyPin(digest: self.leafKey).map { String($0.description.dropFirst("sha256/".count)) } ?? ""
    }

    /// Where it looks for the accounts that it is signed in with, instead of a host that pages use as well.
    private static let noAccounts = "accounts.invalid"

    /// Hosts of the vendor that Chromium contacts in spite of these options. They bypass the proxy and do not resolve. No page needs them.
    private static let makersHosts = [
        "update.googleapis.com", "clients1.google.com", "clients2.google.com", "clients3.google.com", "clients4.google.com",
        "connectivitycheck.gstatic.com", "edgedl.me.gvt1.com", "redirector.gvt1.com", "optimizationguide-pa.googleapis.com",
        "content-autofill.googleapis.com", "safebrowsing.googleapis.com", "android.clients.google.com", "mtalk.google.com",
        Self.noAccounts, "config.edge.skype.com", "edge.microsoft.com", "msedge.api.cdp.microsoft.com", "go-updater.brave.com",
        "variations.brave.com",
    ]

    private static let chromiumFeatures = [
        "AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "DialMediaRouteProvider",
        "InterestFeedContentSuggestions",
        "MediaRouter", "OptimizationGuideModelDownloading", "OptimizationHints", "OptimizationTargetPrediction", "Translate",
        "NetworkTimeServiceQuerying",
        // It would ask for https although the URL says http.
        "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable",
    ]

    // MARK: Firefox

    private func makeFirefoxProfile() throws(TrustError) {
        let parts = ListenAddress(argument: self.proxy) ?? ListenAddress(host: "127.0.0.1", port: 0)
        let preferences = Self.firefoxPreferences(host: parts.host, port: parts.port)
        let lines = preferences.map { "user_pref(\"\($0.name)\", \($0.value));\n" }.joined()
        try WholeFile.replace("\(self.profile)/user.js", with: Array(lines.utf8), mode: 0o600)
        let pem = "\(self.profile)/wiretape-ca.pem"
        try WholeFile.replace(pem, with: self.authority.pem, mode: 0o600)
        let store = "sql:\(self.profile)"
        for arguments in [
            ["-N", "-d", store, "--empty-password"], ["-A", "-d", store, "-n", "wiretape", "-t", "C,,", "-i", pem],
        ] {
            guard let ended = ProgramOutput.text(of: "certutil", ["certutil"] + arguments, withErrors: true) else {
                throw TrustError(
                    "Firefox keeps its authorities in a store that certutil writes, which is missing: install libnss3-tools (nss on macOS), or pass --browser-program chromium."
                )
            }
            guard ended.status == 0 else {
                let words = String(decoding: ended.output, as: UTF8.self).split(separator: "\n").first ?? "no reason given"
                throw TrustError("certutil cannot make the profile's store of authorities (\(words)): look at \"\(self.profile)\".")
            }
        }
    }

    /// Hosts of the vendor that Firefox contacts in spite of its preferences. They resolve to this machine, where nobody answers.
    private static let mozillaHosts = [
        "firefox.settings.services.mozilla.com", "firefox-settings-attachments.cdn.mozilla.net", "content-signature-2.cdn.mozilla.net",
        "location.services.mozilla.com", "push.services.mozilla.com", "shavar.services.mozilla.com", "contile.services.mozilla.com",
        "merino.services.mozilla.com", "tracking-protection.cdn.mozilla.net", "normandy.cdn.mozilla.net", "getpocket.cdn.mozilla.net",
        "incoming.telemetry.mozilla.org", "aus5.mozilla.org", "services.addons.mozilla.org", "versioncheck.addons.mozilla.org",
        "detectportal.firefox.com", "spocs.getpocket.com", "ciscobinary.openh264.org", "safebrowsing.googleapis.com",
    ].joined(separator: ",")

    static func firefoxPreferences(host: String, port: Int) -> [(name: String, value: String)] {
        let texts = [
            ("network.proxy.http", host), ("network.proxy.ssl", host), ("network.proxy.no_proxies_on", self.mozillaHosts),
            ("network.dns.localDomains", self.mozillaHosts),
        ]
        let numbers = [
            ("network.proxy.type", 1), ("network.proxy.http_port", port), ("network.proxy.ssl_port", port), ("network.trr.mode", 5),
            ("browser.startup.page", 0), ("datareporting.policy.dataSubmissionPolicyBypassNotification", 1),
            ("toolkit.telemetry.reportingpolicy.firstRun", 0), ("network.http.speculative-parallel-limit", 0),
        ]
        let on = ["network.proxy.allow_hijacking_localhost", "browser.aboutwelcome.didSeeFinalScreen"]
        // Requests that it would make to its vendor by itself, and HTTP over QUIC.
        let off = [
            "app.normandy.enabled", "app.shield.optoutstudies.enabled", "app.update.auto", "app.update.background.enabled",
            "browser.aboutwelcome.enabled", "browser.discovery.enabled", "browser.newtabpage.activity-stream.feeds.section.topstories",
            "browser.newtabpage.activity-stream.feeds.topsites", "browser.newtabpage.activity-stream.showSponsoredTopSites",
            "browser.newtabpage.enabled", "browser.region.network.scan", "browser.region.update.enabled",
            "browser.safebrowsing.downloads.enabled", "browser.safebrowsing.downloads.remote.enabled",
            "browser.safebrowsing.malware.enabled",
            "browser.safebrowsing.phishing.enabled", "browser.search.suggest.enabled", "browser.search.update",
            "browser.shell.checkDefaultBrowser", "datareporting.healthreport.uploadEnabled",
            "datareporting.policy.dataSubmissionEnabled", "dom.push.connection.enabled", "dom.security.https_first",
            "extensions.blocklist.enabled", "extensions.getAddons.cache.enabled", "extensions.systemAddon.update.enabled",
            "extensions.update.enabled", "identity.fxaccounts.enabled", "media.gmp-manager.updateEnabled",
            "network.captive-portal-service.enabled", "network.connectivity-service.enabled", "network.http.http3.enable",
            "signon.management.page.breach-alerts.enabled", "toolkit.telemetry.archive.enabled", "toolkit.telemetry.enabled",
            "toolkit.telemetry.unified",
        ]
        let nowhere = ["extensions.systemAddon.update.url", "media.gmp-manager.url", "app.normandy.api_url"]
        return texts.map { ($0.0, "\"\($0.1)\"") } + numbers.map { ($0.0, "\($0.1)") } + on.map { ($0, "true") } + off.map { ($0, "false") }
            + nowhere.map { ($0, "\"\"") } + [("security.OCSP.enabled", "0")]
    }
}
