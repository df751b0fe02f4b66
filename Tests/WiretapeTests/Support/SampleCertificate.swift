import Foundation

/// Certificates for tests in DER, and OpenSSL's description of their keys.
enum SampleCertificate {
    /// An RSA key of 1024 bits; for www.example.com, *.wild.example, *.com, 127.0.0.1 and ::1, and an email address.
    static let rsa = Self.bytes(
        """
        MIICZDCCAc2gAwIBAgIUFI4grSAqCHqh904eyWdakDHbQt8wDQYJKoZIhvcNAQELBQAwGTEXMBUGA1UEAwwOY29tbW9uLmV4YW1wbGUwIBcNMj
        YxMTIyMDY0NTM3WhgPMjEyNjEwMjkwNjQ1MzdaMBkxFzAVBgNVBAMMDmNvbW1vbi5leGFtcGxlMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKB
        gQCoxFUYsGvCsFr8UVn1BfFWDXbrKwQKMCGn2C+utlowCPP3STM7L+MZXakqngVpspuYRmTXRk36hE/0uHUJHeKvUEyEL9bhw2ecfT5F8oFUQs
        BqlEgHnAQfkWC4IYvBtqh1V2fX/4rL6tNiBelhTCaL1zO/GoUmUf8hEUzXDgc15QIDAQABo4GmMIGjMB0GA1UdDgQWBBT86rYUq5UF7Pemz0/p
        zvsn5KkDATAfBgNVHSMEGDAWgBT86rYUq5UF7Pemz0/pzvsn5KkDATAPBgNVHRMBAf8EBTADAQH/MFAGA1UdEQRJMEeCD3d3dy5FeGFtcGxlLm
        NvbYIOKi53aWxkLmV4YW1wbGWCBSouY29thwR/AAABhxAAAAAAAAAAAAAAAAAAAAABgQVhQGIuYzANBgkqhkiG9w0BAQsFAAOBgQAJtqGpqtMp
        KOwKzfEC9rvFM+/wexzAgZerkQ02ORPYCutUw4u4f+6rBeuoliF86lABDYIAUVSXN60f5PPTO/SGiw59g3VVTJxbVScETfkSnSxhZVvBSSNTAi
        m6bnr33tUrXUt/YO73xCKwgsVBoFGLJqjX3m4+M6mqf8dtcBSV6Q==
        """)
    static let rsaPin = "sha256/2gY3FFVjXCudAzQuUcFGhytizG3f6yonYbjzXQXIyJY="

    /// P-256; for ec.example, in a critical extension.
    static let ec = Self.bytes(
        """
        MIIBmzCCAUGgAwIBAgIUZHdjqUnB2W8+C5Vjb+by2rQvi30wCgYIKoZIzj0EAwIwFTETMBEGA1UEAwwKZWMuZXhhbXBsZTAgFw0yNjExMjIwNj
        Q1MzdaGA8yMTI2MTAyOTA2NDUzN1owFTETMBEGA1UEAwwKZWMuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAPROlzYpV+XsJZo
        +jNymjvIvH7Lh08xucK9gK5MM7yMPddg/nGYNPNZ92eGOTiEtKjRcCRdQbtlIDg3WQUajd+jbTBrMB0GA1UdDgQWBBSGLhGSMFGVa21NyHrTcD
        40PSYTmDAfBgNVHSMEGDAWgBSGLhGSMFGVa21NyHrTcD40PSYTmDAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQEB/wQOMAyCCmVjLmV4YW1wbGUw
        CgYIKoZIzj0EAwIDSAAwRQIhAKk3Vv+hG32epwznwQQCJQx4wgr0/boaXU2Zigpx/d+6AiASxpYxqLOhr21u8M76jQEB4BV5upiNB/EFcLcTHu
        QfdQ==
        """)
    static let ecPin = "sha256/EU5B3UpbwV+nfZuAt1IR05Jt+kAiqVYnijXv6nj97mQ="

    /// Ed25519, with only a common name.
    static let ed = Self.bytes(
        """
        MIIBQDCB86ADAgECAhRrQFH2D+4YVImYd3Zskwvi7Z4OODAFBgMrZXAwFTETMBEGA1UEAwwKZWQuZXhhbXBsZTAgFw0yNjExMjIwNjQ1MzdaGA
        8yMTI2MTAyOTA2NDUzN1owFTETMBEGA1UEAwwKZWQuZXhhbXBsZTAqMAUGAytlcAMhALnyq1VcuB/YzOZZMosvOl+yk8ceR64ka4eM9oZb2W6t
        o1MwUTAdBgNVHQ4EFgQUiggmGYu/Ttrw83QvLVFBL7GwVZgwHwYDVR0jBBgwFoAUiggmGYu/Ttrw83QvLVFBL7GwVZgwDwYDVR0TAQH/BAUwAw
        EB/zAFBgMrZXADQQAwwRFrSM/+KvOrILooECObt1kGPhUGTGMLUymvUtTlaPPCLtxLf4cRYod2Sr4UvV+53Z8/dH3oeixJ06FZtRIN
        """)
    static let edPin = "sha256/uF8C7AuT3U7p8cNgZ2SiauNwMtJbLiMB3u3PjCVmV1A="

    /// P-256, version 1: no extensions.
    static let v1 = Self.bytes(
        """
        MIIBGTCBvwIUXh9SDtmqE3H5DTI+bPfk3m+kwUgwCgYIKoZIzj0EAwIwDjEMMAoGA1UEAwwDb2xkMCAXDTI2MTEyMjA2NDUzN1oYDzIxMjYxMD
        I5MDY0NTM3WjAOMQwwCgYDVQQDDANvbGQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASAYbNDOVJ7QrM1tSW5DQs01KaXrk4DjT7FWFLeDm90
        l7TyP1uz8msZvzIyi6CHCRvCDdsNQ/zmTEHZyFNESV49MAoGCCqGSM49BAMCA0kAMEYCIQC7mKXUTpHVPa2Gq6jS4Y9WHW6jJosHfnRK2ycDdG
        DddwIhAOklLFj/EFFmfe++8QsNlPcRBmA7DemUKpuSvZKr3J/p
        """)
    static let v1Pin = "sha256/hjJi2d38Qr3vGoZBRQzyXcKFVs25zGAsqiLR+/7jeV0="

    private static func bytes(_ base64: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data())
    }

    static func pem(_ certificate: [UInt8]) -> String {
        let base64 = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
    }
}
