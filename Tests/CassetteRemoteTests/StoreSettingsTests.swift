import TapeBytes
import Testing

@testable import CassetteRemote

struct StoreSettingsTests {
    @Test func addressesOfStores() throws {
        #expect(try StoreAddress("s3://tapes/team/x/").description == "s3://tapes/team/x")
        #expect(try StoreAddress("s3://tapes").key("objects/a") == "objects/a")
        #expect(try StoreAddress("s3://tapes/p").key("objects/a") == "p/objects/a")
        #expect(try StoreAddress("https://host/tapes/").description == "https://host/tapes")
        for wrong in [
            "", "tapes", "s3://", "s3:///x", "s3://a//b", "s3://a/../b", "s3://a b/c", "ftp://a", "http://host/x", "s3://a/\u{1}",
        ] {
            #expect(throws: StoreError.self, "\(wrong)") { try StoreAddress(wrong) }
        }
    }

    @Test func plainHTTPIsOnlyForThisMachine() throws {
        for good in [
            "http://127.0.0.1:9000", "http://localhost", "http://[::1]:80", "http://127.9.9.9", "https://s3.example.com:8443/base",
        ] {
            _ = try ServerAddress(good)
        }
        for wrong in [
            "http://example.com", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1", "http://127.1",
            "https://user:pass@host", "https://host?x", "https://", "host", "https://ho st", "http://localhost@example.com",
            "http://[::1].example.com",
        ] {
            #expect(throws: StoreError.self, "\(wrong)") { try ServerAddress(wrong) }
        }
    }

    @Test func bucketIsInTheNameOrInThePath() throws {
        func url(_ store: String, _ endpoint: String?, _ pathStyle: Bool? = nil) throws -> String {
            try StoreSettings(address: StoreAddress(store), endpoint: endpoint, region: "eu-central-1", usesPathStyle: pathStyle)
                .target(key: "p/a b").url
        }
        #expect(try url("s3://tapes/p", nil) == "https://tapes.s3.eu-central-1.amazonaws.com/p/a%20b")
        // A certificate for one level does not cover a name with a dot.
        #expect(try url("s3://my.tapes/p", nil) == "https://s3.eu-central-1.amazonaws.com/my.tapes/p/a%20b")
        #expect(try url("s3://tapes/p", "http://localhost:9000") == "http://localhost:9000/tapes/p/a%20b")
        #expect(try url("s3://tapes/p", "https://h/base/", false) == "https://tapes.h/base/p/a%20b")
    }

    private static func environment(_ variables: [String: String], _ files: [String: String] = [:]) -> AWSEnvironment {
        AWSEnvironment(variables: { variables[$0] }, read: { files[$0] })
    }

    @Test func environmentComesBeforeProfiles() throws {
        let files = [
            "/h/.aws/credentials":
                "[default]\naws_access_key_id = FILE\naws_secret_access_key = s=1 \n[x]\naws_access_key_id=X\naws_secret_access_key=t\naws_session_token=u\n",
            "/h/.aws/config": "[profile x]\nregion = eu-west-1\n  nested = 1\n[default]\nregion=here\nendpoint_url = https://h\n",
        ]
        let own = try Self.environment(
            ["HOME": "/h", "AWS_ACCESS_KEY_ID": "ENV", "AWS_SECRET_ACCESS_KEY": "e", "AWS_SESSION_TOKEN": "tok"], files
        ).credentials()
        #expect((own.accessKey, own.secretKey, own.sessionToken) == ("ENV", "e", "tok"))
        let file = Self.environment(["HOME": "/h"], files)
        #expect(try (file.credentials().accessKey, file.credentials().secretKey) == ("FILE", "s=1"))
        #expect((file.region, file.endpoint) == ("here", "https://h"))
        let profile = Self.environment(["HOME": "/h", "AWS_PROFILE": "x"], files)
        #expect(try (profile.credentials().accessKey, profile.credentials().sessionToken) == ("X", "u"))
        #expect((profile.region, profile.endpoint) == ("eu-west-1", nil))
        #expect(throws: StoreError.self) { try Self.environment(["AWS_ACCESS_KEY_ID": "a"]).credentials() }
        #expect(throws: StoreError.self) { try Self.environment([:]).credentials() }
    }

    @Test func credentialsAreNotInDescriptions() {
        let credentials = Credentials(accessKey: "KEY", secretKey: "hush", sessionToken: "token")
        var text = "\(credentials)"
        dump(credentials, to: &text)
        text += String(reflecting: credentials)
        #expect(!text.contains("hush") && !text.contains("token") && !text.contains("KEY"))
    }

    @Test func cachesAreInTheUsersFolder() throws {
        #expect(try CassetteCache(variables: { ["HOME": "/h"][$0] }).folder == "/h/.cache/wiretape")
        #expect(try CassetteCache(variables: { ["HOME": "/h", "XDG_CACHE_HOME": "/c"][$0] }).folder == "/c/wiretape")
        #expect(try CassetteCache(variables: { ["WIRETAPE_CACHE": "/w", "WIRETAPE_CACHE_LIMIT": "2GB"][$0] }).limit == 2_000_000_000)
        #expect(throws: StoreError.self) { try CassetteCache(variables: { _ in nil }) }
        #expect(throws: StoreError.self) { try CassetteCache(variables: { ["HOME": "/h", "WIRETAPE_CACHE_LIMIT": "lots"][$0] }) }
    }

    @Test func cassettesInStoresHaveADigest() throws {
        let digest = String(repeating: "0a", count: 32)
        let remote = try RemoteCassette("s3://tapes/p@\(digest)")
        #expect((remote.digest, remote.address.description) == (digest, "s3://tapes/p"))
        for wrong in ["s3://tapes/p", "s3://tapes/p@\(digest.dropLast())", "s3://tapes/p@\(digest.uppercased())", "s3://@\(digest)"] {
            #expect(throws: StoreError.self, "\(wrong)") { try RemoteCassette(wrong) }
        }
    }
}
