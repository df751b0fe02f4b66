/// Instructions for making one system trust the CA.
struct TrustSteps {
    var title: String
    var steps: HTML

    var html: HTML { "<details>\n<summary>\(self.title)</summary>\n\(self.steps)\n</details>" }

    /// - Parameters:
    ///   - authority: the CA's name as systems list it.
    ///   - address: the proxy's address, HOST:PORT.
    static func all(authority: String, address: String) -> [TrustSteps] {
        [
            TrustSteps(
                title: "Command line",
                steps: """
                    <p>A program that Wiretape starts trusts the CA already:</p>
                    <pre><code>wiretape record tape.json -- your-program</code></pre>
                    <p>For a shell on this machine and every program that is started from it:</p>
                    <pre><code>eval "$(wiretape env --proxy \(address))"</code></pre>
                    """),
            TrustSteps(
                title: "macOS",
                steps: """
                    <p><code>wiretape ca install</code> does it. By hand, with the <a href="ca.pem">PEM</a> file:</p>
                    <pre><code>security add-trusted-cert -r trustRoot -k ~/Library/Keychains/login.keychain-db wiretape-ca.pem</code></pre>
                    """),
            TrustSteps(
                title: "iOS simulator",
                steps: """
                    <p>The simulator uses the Mac’s proxy settings. With the <a href="ca.pem">PEM</a> file and a booted simulator:</p>
                    <pre><code>xcrun simctl keychain booted add-root-cert wiretape-ca.pem</code></pre>
                    """),
            TrustSteps(
                title: "iPhone and iPad",
                steps: """
                    <ol>
                    <li>Set the proxy in Settings, Wi-Fi, the network’s (i), Configure Proxy. \(Self.remote)</li>
                    <li>Open <code>http://\(MagicHost.name)</code> in Safari, tap <a href="ca.crt">DER, .crt</a>, and allow the download.</li>
                    <li>Settings, General, VPN &amp; Device Management: install the profile \(authority).</li>
                    <li>Settings, General, About, Certificate Trust Settings: switch \(authority) on.</li>
                    </ol>
                    """),
            Self.android(authority: authority, address: address),
            TrustSteps(
                title: "Firefox",
                steps: """
                    <p>Firefox keeps its own list: Settings, Privacy &amp; Security, View Certificates, Authorities, Import, the \
                    <a href="ca.pem">PEM</a> file, “Trust this CA to identify websites”.</p>
                    <p>On Windows and macOS it can take the system’s list instead: <code>security.enterprise_roots.enabled</code> in \
                    <code>about:config</code>.</p>
                    """),
            TrustSteps(
                title: "Debian and Ubuntu",
                steps: """
                    <p><code>sudo wiretape ca install</code> does it. By hand, with the <a href="ca.pem">PEM</a> file:</p>
                    <pre><code>sudo cp wiretape-ca.pem /usr/local/share/ca-certificates/wiretape.crt
                    sudo update-ca-certificates</code></pre>
                    <p>Chrome and Chromium on Linux keep a list of their own (certutil is in libnss3-tools):</p>
                    <pre><code>certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n wiretape -i wiretape-ca.pem</code></pre>
                    """),
            TrustSteps(
                title: "Windows",
                steps: """
                    <p>With the <a href="ca.crt">.crt</a> file, for your own user:</p>
                    <pre><code>certutil -user -addstore Root wiretape-ca.crt</code></pre>
                    <p>For all users, in a terminal run as administrator: the same without <code>-user</code>.</p>
                    """),
        ]
    }

    private static func android(authority: String, address: String) -> TrustSteps {
        TrustSteps(
            title: "Android",
            steps: """
                <ol>
                <li>Set the proxy: on a device in the Wi-Fi network’s settings. \(Self.remote) Start an emulator with it:
                <pre><code>emulator -avd NAME -http-proxy http://\(address)</code></pre></li>
                <li>Open <code>http://\(MagicHost.name)</code>, download <a href="ca.crt">DER, .crt</a>.</li>
                <li>Settings, Security, Encryption &amp; credentials, Install a certificate, CA certificate: choose the file.</li>
                </ol>
                <p>Browsers trust it now. An app trusts it only if its debug build allows that, in <code>res/xml/network_security_config.xml</code>, \
                named by <code>android:networkSecurityConfig</code> in the manifest’s <code>application</code>:</p>
                <pre><code>\("""
                    <network-security-config>
                      <debug-overrides>
                        <trust-anchors>
                          <certificates src="system" />
                          <certificates src="user" />
                        </trust-anchors>
                      </debug-overrides>
                    </network-security-config>
                    """)</code></pre>
                <p>In an emulator up to Android 13, with an image without Google Play and started with <code>-writable-system</code>, the CA \
                can be added to the system’s own, which every app trusts:</p>
                <pre><code>\("""
                    hash=$(openssl x509 -subject_hash_old -noout -in wiretape-ca.pem)
                    adb root && adb remount
                    adb push wiretape-ca.pem /system/etc/security/cacerts/$hash.0
                    adb reboot
                    """)</code></pre>
                """)
    }

    /// The proxy listens on loopback by default.
    private static let remote: HTML =
        "Another device reaches the proxy if it was started with <code>--listen 0.0.0.0:7070</code>, <code>--allow-remote</code> and <code>--proxy-auth</code>."
}
