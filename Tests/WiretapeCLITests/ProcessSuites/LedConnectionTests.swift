#if os(Linux)
import Glibc
import TapeTestSupport
import Testing

/// Connections that nftables redirects to the proxy, in a network namespace.
@Suite struct LedConnectionTests {
    private static let isPossible: Bool = {
        guard getuid() == 0, ["unshare", "nft", "ip", "setpriv"].allSatisfy({ Programs.isInstalled($0) }) else { return false }
        guard let unshare = try? Programs.find("unshare"), let nft = try? Programs.find("nft") else { return false }
        let rule =
            "add table inet t; add chain inet t c { type nat hook output priority -100; }; add rule inet t c tcp dport 1 redirect to :2"
        return (try? ExternalProgram.run(unshare, ["--net", nft, rule]).status) == 0
    }()

    @Test(.enabled(if: Self.isPossible, "root, nft and network namespaces are not there"))
    func aProgramThatKnowsNoProxyIsRecorded() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("led.json")
        let script = [try Programs.wiretape(), cassette, folder.path]
        let end = try ExternalProgram.run(try Programs.find("unshare"), ["--net", "sh", Programs.fixture("led.sh")] + script)
        #expect(end.status == 0 && end.outputText == "led /by-the-kernelled /by-another-user", "\(end.outputText) \(end.errors)")
        #expect(try CassetteFile.urls(cassette) == ["http://10.9.0.1:8000/by-the-kernel"])
    }

    @Test(.enabled(if: Self.isPossible, "root, nft and network namespaces are not there"))
    func aConnectionOfItsOwnThatIsLedBackIsClosedAndNamed() throws {
        let folder = try TemporaryFolder()
        let script = [try Programs.wiretape(), folder.file("led.json"), folder.path]
        let end = try ExternalProgram.run(try Programs.find("unshare"), ["--net", "sh", Programs.fixture("led_back.sh")] + script)
        #expect(end.status == 0 && end.outputText.contains("closed the connection without an answer"), "\(end.outputText)")
        #expect(
            end.errors.components(separatedBy: "a connection from this proxy to 10.9.0.1:8000 was redirected back to it").count == 2,
            "\(end.errors)"
        )
    }
}
#endif
